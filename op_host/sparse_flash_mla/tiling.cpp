// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/tiling.h"

#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseFlashMla(const SparseFlashMlaArgs& args, const SparseFlashMlaProblem& problem,
                          const AttentionTarget& target) {
  return PlanAttention({"aclnnSparseFlashMla", kSparseFlashMlaKernel}, args.operands, problem.uses,
                       problem, target);
}

}  // namespace sfmla
