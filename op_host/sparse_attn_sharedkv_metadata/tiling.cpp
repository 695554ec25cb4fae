// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv_metadata/tiling.h"

#include "op_kernel/sparse_attn_sharedkv_metadata/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseAttnSharedkvMetadata(const SparseAttnSharedkvMetadataArgs& args,
                                      const SparseAttnSharedkvMetadataProblem& problem,
                                      const CoreCounts& cores) {
  Launch out;
  out.op_name = "aclnnSparseAttnSharedkvMetadata";
  out.kernel_id = kSparseAttnSharedkvMetadataKernel;
  WorkspaceSum workspace;
  AddOperands(args.operands, problem.uses, &workspace, &out);
  SparseAttnSharedkvMetadataTiling tiling;
  tiling.rules = problem.rules;
  tiling.batch = problem.batch;
  tiling.query_extent = problem.query_extent;
  tiling.ori_extent = problem.ori_extent;
  tiling.cube_cores = cores.cube;
  out.tiling = TilingBytes(tiling);
  out.workspace_bytes = static_cast<uint64_t>(workspace.bytes());
  return out;
}

}  // namespace sfmla
