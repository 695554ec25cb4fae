// SPDX-License-Identifier: Apache-2.0
// What op_host tells the attention kernels of the family. Chip-free, fixed widths, offsets in
// elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/cache_geometry.h"
#include "op_kernel/common/workspace_layout.h"

namespace sfmla {

struct AttentionTiling {
  AttentionRules rules;
  int32_t is_bfloat16 = 0;  // flag: 0 or 1, then float16
  float softmax_scale = 1.0f;
  int64_t batch = 0;
  int64_t query_extent = 0;  // S1 (BSND) or T1 (TND)
  int64_t query_rows = 0;    // rows of q: B x S1 or T1
  CacheGeometry ori;
  CacheGeometry cmp;
  CacheGeometry ori_rope;          // all 0: there is no such pool
  CacheGeometry ori_value;         // the same; the keys are the values
  int32_t return_softmax_lse = 0;  // flag: 0 or 1
  int32_t block_tokens = 0;        // planning unit along KV, as the metadata operator used
  AttentionWorkspace workspace;
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(std::is_trivially_copyable_v<AttentionTiling>);
static_assert(sizeof(AttentionTiling) == sizeof(AttentionRules) + 4 * sizeof(int32_t) +
                                             3 * sizeof(int64_t) + 4 * sizeof(CacheGeometry) +
                                             sizeof(AttentionWorkspace));

}  // namespace sfmla
