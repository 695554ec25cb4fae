// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_sparse_attn_sharedkv_metadata.h"

#include "aclnn_api/check_and_plan.h"
#include "aclnn_api/two_phase.h"
#include "op_host/sparse_attn_sharedkv_metadata/check.h"
#include "op_host/sparse_attn_sharedkv_metadata/tiling.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/operand_names.h"

aclnnStatus aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
    const aclTensor* cuSeqLensQOptional, const aclTensor* cuSeqLensOriKvOptional,
    const aclTensor* cuSeqLensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedKvOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim,
    int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t /*oriTopK*/,
    int64_t cmpTopK, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft,
    int64_t oriWinRight, char* layoutQOptional, char* layoutKvOptional, bool /*hasOriKv*/,
    bool hasCmpKv, const aclTensor* metadata, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return sfmla::PhaseOne(
      "aclnnSparseAttnSharedkvMetadataGetWorkspaceSize", sfmla::code::kAclnnInnerNullptr,
      workspaceSize, executor, [&] {
        sfmla::SparseAttnSharedkvMetadataArgs args;
        args.operands =
            sfmla::MakeOperands(sfmla::kSparseAttnSharedkvMetadataOperandNames,
                                {cuSeqLensQOptional, cuSeqLensOriKvOptional, cuSeqLensCmpKvOptional,
                                 sequsedQOptional, sequsedKvOptional, metadata});
        args.num_heads_q = numHeadsQ;
        args.num_heads_kv = numHeadsKv;
        args.head_dim = headDim;
        args.batch_size = batchSize;
        args.max_seqlen_q = maxSeqlenQ;
        args.max_seqlen_kv = maxSeqlenKv;
        args.cmp_topk = cmpTopK;
        args.attributes = {cmpRatio,    oriMaskMode,     cmpMaskMode,     oriWinLeft,
                           oriWinRight, layoutQOptional, layoutKvOptional};
        args.has_cmp_kv = hasCmpKv;
        return CheckAndPlan(args, sfmla::CheckSparseAttnSharedkvMetadata,
                            sfmla::PlanSparseAttnSharedkvMetadata, sfmla::PlanningCores());
      });
}

aclnnStatus aclnnSparseAttnSharedkvMetadata(void* workspace, uint64_t workspaceSize,
                                            aclOpExecutor* executor, aclrtStream stream) {
  return sfmla::PhaseTwo("aclnnSparseAttnSharedkvMetadata", workspace, workspaceSize, executor,
                         stream);
}
