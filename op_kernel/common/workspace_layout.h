// SPDX-License-Identifier: Apache-2.0
// The workspace of the CPU kernel: op_host sums the slices, the kernel addresses them.
//
//   [0, scratch_offset)   contiguous copies of strided inputs, placed by op_host
//   scratch               one ThreadScratch per thread
//   split slots           one partial result per chunk of a split row: maximum, sum, and output
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/device_macros.h"

namespace sfmla {

inline constexpr int64_t kWorkspaceAlignment = 512;  // bytes

struct AttentionWorkspace {
  int64_t scratch_offset = 0;  // bytes from the start of the workspace
  int64_t scratch_bytes = 0;   // per thread
  int64_t threads = 0;
  int64_t split_offset = 0;
  int64_t split_slots = 0;
};

// Floats of one split slot: maximum and sum per head, then the output.
SFMLA_DEVICE constexpr int64_t SplitSlotFloats(int64_t padded_heads) {
  return 2 * padded_heads + padded_heads * kHeadDim;
}

}  // namespace sfmla
