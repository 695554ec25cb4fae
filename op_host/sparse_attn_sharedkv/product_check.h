// SPDX-License-Identifier: Apache-2.0
// Part of check.cpp: what a product refuses of a call that the union of all products accepts.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_attn_sharedkv/args.h"
#include "op_host/sparse_attn_sharedkv/problem.h"

namespace sfmla {

Status CheckSharedKvProduct(const ProductRules& product, const SparseAttnSharedkvArgs& args,
                            const SparseAttnSharedkvProblem& problem);

}  // namespace sfmla
