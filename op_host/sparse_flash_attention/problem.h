// SPDX-License-Identifier: Apache-2.0
// A call of SparseFlashAttention as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/attention_problem.h"
#include "op_host/common/launch_builder.h"
#include "op_kernel/sparse_flash_attention/tiling_data.h"

namespace sfmla {

struct SparseFlashAttentionProblem : AttentionProblem {
  std::array<OperandUse, sparse_flash_operand::kCount> uses;
};

}  // namespace sfmla
