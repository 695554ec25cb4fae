// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv/tiling.h"

#include "op_kernel/sparse_attn_sharedkv/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseAttnSharedkv(const SparseAttnSharedkvProblem& problem,
                              const AttentionTarget& target) {
  return PlanAttention({"aclnnSparseAttnSharedkv", kSparseAttnSharedkvKernel}, problem.operands,
                       problem.uses, problem, target);
}

}  // namespace sfmla
