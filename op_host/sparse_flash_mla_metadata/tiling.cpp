// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla_metadata/tiling.h"

#include "op_kernel/sparse_flash_mla_metadata/cpu_kernel.h"

namespace sfmla {

Launch PlanSparseFlashMlaMetadata(const SparseFlashMlaMetadataArgs& args,
                                  const SparseFlashMlaMetadataProblem& problem,
                                  const CoreCounts& cores, const SocTraits& soc) {
  const auto elements = [&](metadata_operand::Slot slot) {
    return problem.uses[slot].used ? args.at(slot).desc.num_elements() : 0;
  };
  SparseFlashMlaMetadataTiling tiling;
  tiling.rules = problem.rules;
  tiling.batch = problem.batch;
  tiling.query_extent = problem.query_extent;
  tiling.ori_extent = problem.ori_extent;
  tiling.cmp_extent = problem.cmp_extent;
  tiling.cube_cores = cores.cube;
  tiling.vector_cores = cores.vector;
  tiling.block_tokens = soc.kv_block_tokens;
  tiling.ori_topk_lengths = elements(metadata_operand::kOriTopkLength);
  tiling.cmp_topk_lengths = elements(metadata_operand::kCmpTopkLength);
  return SimpleLaunch({"aclnnSparseFlashMlaMetadata", kSparseFlashMlaMetadataKernel}, args.operands,
                      problem.uses, tiling);
}

}  // namespace sfmla
