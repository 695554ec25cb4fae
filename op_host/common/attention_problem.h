// SPDX-License-Identifier: Apache-2.0
// What every attention operator of the family knows about a call once it has been checked.
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/cache_geometry.h"

namespace sfmla {

struct AttentionProblem {
  AttentionRules rules;
  bool is_bfloat16 = false;
  float softmax_scale = 1.0f;
  bool return_softmax_lse = false;
  int64_t batch = 0;
  int64_t query_extent = 0;  // S1 or T1
  int64_t query_rows = 0;    // B x S1 or T1
  CacheGeometry ori;
  CacheGeometry cmp;
  CacheGeometry ori_rope;   // where an operator keeps the rotary part of the keys apart
  CacheGeometry ori_value;  // where values are not the keys
};

}  // namespace sfmla
