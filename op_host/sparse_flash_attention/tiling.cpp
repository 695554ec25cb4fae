// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_attention/tiling.h"

#include "op_kernel/sparse_flash_attention/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseFlashAttention(const SparseFlashAttentionArgs& args,
                                const SparseFlashAttentionProblem& problem,
                                const AttentionTarget& target) {
  return PlanAttention({args.op_name, kSparseFlashAttentionKernel}, args.operands, problem.uses,
                       problem, target);
}

}  // namespace sfmla
