// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch. Pure: the same problem on the same device gives the same bytes.
#pragma once

#include "op_host/common/attention_tiling.h"
#include "op_host/sparse_flash_mla/args.h"
#include "op_host/sparse_flash_mla/problem.h"

namespace sfmla {

Launch PlanSparseFlashMla(const SparseFlashMlaArgs& args, const SparseFlashMlaProblem& problem,
                          const AttentionTarget& target);

}  // namespace sfmla
