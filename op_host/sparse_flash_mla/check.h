// SPDX-License-Identifier: Apache-2.0
// Args -> Problem: the only place that refuses a call of aclnnSparseFlashMla for what the host
// sees.
#pragma once

#include "op_host/common/product_rules.h"
#include "op_host/sparse_flash_mla/args.h"
#include "op_host/sparse_flash_mla/problem.h"

namespace sfmla {

// 161001 for a required pointer that is NULL, 161002 for everything else.
Result<SparseFlashMlaProblem> CheckSparseFlashMla(const SparseFlashMlaArgs& args,
                                                  const ProductRules& product);

}  // namespace sfmla
