// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv_metadata/tiling.h"

#include "op_kernel/sparse_attn_sharedkv_metadata/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseAttnSharedkvMetadata(const SparseAttnSharedkvMetadataArgs& args,
                                      const SparseAttnSharedkvMetadataProblem& problem,
                                      const CoreCounts& cores) {
  SparseAttnSharedkvMetadataTiling tiling;
  tiling.rules = problem.rules;
  tiling.batch = problem.batch;
  tiling.query_extent = problem.query_extent;
  tiling.ori_extent = problem.ori_extent;
  tiling.cube_cores = cores.cube;
  return SimpleLaunch({"aclnnSparseAttnSharedkvMetadata", kSparseAttnSharedkvMetadataKernel},
                      args.operands, problem.uses, tiling);
}

}  // namespace sfmla
