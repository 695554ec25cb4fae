// SPDX-License-Identifier: Apache-2.0
// Registry of the memory that tasks may touch: device allocations and pinned host allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>

#include "base/status.h"

namespace sfmla {

enum class MemoryKind : uint8_t { kDevice, kPinnedHost };

struct Allocation {
  uintptr_t begin = 0;
  size_t bytes = 0;  // as asked for; the slack behind it is not part of this number
  MemoryKind kind = MemoryKind::kDevice;
};

// The live allocation that contains `address`, if any.
std::optional<Allocation> FindAllocation(const void* address);

// Answers about several ranges under one lock; nothing is allocated or freed while it lives. Its
// thread takes no other lock meanwhile.
class MemoryReader {
 public:
  MemoryReader();

  // Ok if [address, address + bytes) lies in one live allocation (or SFMLA_CHECK is off). Otherwise
  // `failure_code` and a sentence that begins with `what` and gives addresses and sizes.
  Status CheckAccessible(const char* what, const void* address, uint64_t bytes,
                         int32_t failure_code) const;

 private:
  const bool checks_;
  const std::shared_lock<std::shared_mutex> lock_;
};

// The same for one range.
Status CheckAccessible(const char* what, const void* address, uint64_t bytes, int32_t failure_code);

}  // namespace sfmla
