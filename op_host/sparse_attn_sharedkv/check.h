// SPDX-License-Identifier: Apache-2.0
// Args -> Problem: the only place that refuses a call of aclnnSparseAttnSharedkv for what the host
// sees.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_attn_sharedkv/args.h"
#include "op_host/sparse_attn_sharedkv/problem.h"

namespace sfmla {

// 161001 for a required pointer that is NULL, 161002 for everything else.
Result<SparseAttnSharedkvProblem> CheckSparseAttnSharedkv(const SparseAttnSharedkvArgs& args,
                                                          const ProductRules& product);

}  // namespace sfmla
