// SPDX-License-Identifier: Apache-2.0
// Args -> Problem: the only place that refuses a call of SparseFlashAttention for what the host
// sees.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_flash_attention/args.h"
#include "op_host/sparse_flash_attention/problem.h"

namespace sfmla {

// 161001 for a required pointer that is NULL, 161002 for everything else.
Result<SparseFlashAttentionProblem> CheckSparseFlashAttention(const SparseFlashAttentionArgs& args,
                                                              const ProductRules& product);

}  // namespace sfmla
