// SPDX-License-Identifier: Apache-2.0
// On-chip memories per architecture: what a kernel can use, in bytes.
#pragma once

#include <cstdint>

#include "sim/space.h"

namespace sfmla::sim {

struct ChipMemory {
  int architecture;         // __NPU_ARCH__
  int max_groups;           // of any product
  uint64_t bytes[kSpaces];  // by Space; 0 for GM
  uint64_t data_cache_line_bytes;
};

inline constexpr uint64_t kKib = 1024;

// The last 256 bytes of UB and L1 belong to the system. Sources disagree about the Fixpipe buffer
// (2 or 7 KB on 2201, 4 or 16 KB on 3510); the smaller size is right on every reading.
inline constexpr ChipMemory kChipMemories[] = {
    {2201,
     36,
     {0, 192 * kKib - 256, 512 * kKib - 256, 64 * kKib, 64 * kKib, 128 * kKib, 1 * kKib, 2 * kKib},
     64},
    {3510,
     36,
     {0, 248 * kKib, 512 * kKib - 256, 64 * kKib, 64 * kKib, 256 * kKib, 4 * kKib, 4 * kKib},
     64},
};

// nullptr for an architecture that has no row.
constexpr const ChipMemory* FindChipMemory(int architecture) {
  for (const ChipMemory& chip : kChipMemories) {
    if (chip.architecture == architecture) return &chip;
  }
  return nullptr;
}

}  // namespace sfmla::sim
