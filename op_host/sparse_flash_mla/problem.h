// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashMla as understood: everything in it has been checked.
#pragma once

#include <array>
#include <cstdint>

#include "op_host/common/launch_builder.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

struct SparseFlashMlaProblem {
  AttentionRules rules;
  bool is_bfloat16 = false;
  float softmax_scale = 1.0f;
  bool return_softmax_lse = false;
  int64_t batch = 0;
  int64_t query_extent = 0;  // S1 or T1
  int64_t query_rows = 0;    // B x S1 or T1
  CacheGeometry ori;
  CacheGeometry cmp;
  std::array<OperandUse, smla_operand::kCount> uses;
};

}  // namespace sfmla
