// SPDX-License-Identifier: Apache-2.0
// Part of check.cpp: what a product refuses of a call that the union of all products accepts.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_flash_attention/args.h"
#include "op_host/sparse_flash_attention/problem.h"

namespace sfmla {

Status CheckSparseFlashProduct(const ProductRules& product, const SparseFlashAttentionArgs& args,
                               const SparseFlashAttentionProblem& problem);

}  // namespace sfmla
