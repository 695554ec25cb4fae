// SPDX-License-Identifier: Apache-2.0
// The table behind device_memory.h and allocator.h; nobody else includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "base/fork.h"
#include "base/status.h"
#include "runtime/device_memory.h"
#include "runtime/fork_order.h"

namespace sfmla {

enum class MemorySource : uint8_t {
  kHeap,
  kPages,   // of the system, untouched until they are written
  kCaller,  // registered
  kMapped,  // physical memory at a reserved address
  kFenced,  // pages with red zones around, under SFMLA_CHECK=strict
};

struct Block {
  Allocation allocation;
  MemorySource source = MemorySource::kHeap;
  size_t reserved_bytes = 0;  // with slack
};

struct MemoryRegistry {
  ForkLock<std::shared_mutex> mutex{fork_order::kMemory};
  std::map<uintptr_t, Block> blocks;  // by begin; ranges do not overlap
  uint64_t device_bytes = 0;          // charged to the budget
};

MemoryRegistry& Memory();

inline uintptr_t Bits(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// The block whose range, slack included, holds the address; nullptr: none.
const Block* FindBlockLocked(uintptr_t address);
bool OverlapsLocked(uintptr_t begin, size_t bytes);

// Takes `bytes` out of the budget of device memory: 207001 if they are not there. Discharge gives
// them back.
Status Charge(size_t bytes);
void Discharge(size_t bytes);

}  // namespace sfmla
