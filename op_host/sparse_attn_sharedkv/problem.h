// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkv as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/attention_problem.h"
#include "op_host/common/launch_builder.h"
#include "op_kernel/sparse_attn_sharedkv/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvProblem : AttentionProblem {
  // As given, but that paged caches have the strides of the attributes.
  std::array<OperandArg, sharedkv_operand::kCount> operands;
  std::array<OperandUse, sharedkv_operand::kCount> uses;
};

}  // namespace sfmla
