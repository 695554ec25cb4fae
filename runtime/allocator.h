// SPDX-License-Identifier: Apache-2.0
// Makes and ends the allocations that device_memory.h finds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "runtime/device_memory.h"

namespace sfmla {

inline constexpr size_t kMemoryAlignment = 512;
// Behind an allocation, after its size was rounded up to this number, clients may touch as much
// again.
inline constexpr size_t kMemorySlackBytes = 32;

// Pages that nobody writes cost nothing. Device memory counts against the budget of
// SFMLA_DEVICE_MEMORY. 207001: budget or system memory used up; 100000: too large to round.
Result<void*> Allocate(MemoryKind kind, size_t bytes);

// Asks the system for large pages within an allocation: gathered rows then need fewer address
// translations. Advice that may be without effect.
void AskForHugePages(void* pointer, size_t bytes);

// `pointer` must be the start of a live allocation of that kind, made by Allocate. 107000
// otherwise.
Status Free(MemoryKind kind, void* pointer);

// Enters memory of the caller as pinned. 507910: overlaps an entry.
Status RegisterHost(void* pointer, size_t bytes);
// 507911: no registered range begins there.
Status UnregisterHost(void* pointer);

struct MemoryInfo {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};
MemoryInfo DeviceMemoryInfo();

struct MemoryUse {
  size_t allocations = 0;
  size_t bytes = 0;
};
MemoryUse DeviceMemoryUse();

// Ok unless `address` lies in a live allocation made by Allocate that [address, address + bytes)
// leaves, slack included; then `failure_code` and a sentence that begins with `what`. Registered
// ranges bound nothing: the memory behind them belongs to the caller as well.
Status CheckStaysInside(const char* what, const void* address, size_t bytes, int32_t failure_code);

}  // namespace sfmla
