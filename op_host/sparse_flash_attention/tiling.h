// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch. Pure: the same problem on the same device gives the same bytes.
#pragma once

#include "op_host/common/attention_tiling.h"
#include "op_host/sparse_flash_attention/args.h"
#include "op_host/sparse_flash_attention/problem.h"

namespace sfmla {

Launch PlanSparseFlashAttention(const SparseFlashAttentionArgs& args,
                                const SparseFlashAttentionProblem& problem,
                                const AttentionTarget& target);

}  // namespace sfmla
