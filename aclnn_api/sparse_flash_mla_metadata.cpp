// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"

#include "aclnn_api/check_and_plan.h"
#include "aclnn_api/two_phase.h"
#include "op_host/sparse_flash_mla_metadata/check.h"
#include "op_host/sparse_flash_mla_metadata/tiling.h"
#include "op_kernel/sparse_flash_mla_metadata/operand_names.h"

aclnnStatus aclnnSparseFlashMlaMetadataGetWorkspaceSize(
    const aclTensor* cuSeqlensQOptional, const aclTensor* cuSeqlensOriKvOptional,
    const aclTensor* cuSeqlensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedOriKvOptional, const aclTensor* sequsedCmpKvOptional,
    const aclTensor* cmpResidualKvOptional, const aclTensor* oriTopkLengthOptional,
    const aclTensor* cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim,
    int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv,
    int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode,
    int64_t oriWinLeft, int64_t oriWinRight, const char* layoutQOptional,
    const char* layoutKvOptional, bool hasOriKv, bool hasCmpKv, const aclTensor* metaData,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return sfmla::PhaseOne(
      "aclnnSparseFlashMlaMetadataGetWorkspaceSize", sfmla::code::kAclnnInnerNullptr, workspaceSize,
      executor, [&] {
        sfmla::SparseFlashMlaMetadataArgs args;
        args.operands = sfmla::MakeOperands(
            sfmla::kSparseFlashMlaMetadataOperandNames,
            {cuSeqlensQOptional, cuSeqlensOriKvOptional, cuSeqlensCmpKvOptional, sequsedQOptional,
             sequsedOriKvOptional, sequsedCmpKvOptional, cmpResidualKvOptional,
             oriTopkLengthOptional, cmpTopkLengthOptional, metaData});
        args.num_heads_q = numHeadsQ;
        args.num_heads_kv = numHeadsKv;
        args.head_dim = headDim;
        args.batch_size = batchSize;
        args.max_seqlen_q = maxSeqlenQ;
        args.max_seqlen_ori_kv = maxSeqlenOriKv;
        args.max_seqlen_cmp_kv = maxSeqlenCmpKv;
        args.ori_topk = oriTopk;
        args.cmp_topk = cmpTopk;
        args.attributes = {cmpRatio,    oriMaskMode,     cmpMaskMode,     oriWinLeft,
                           oriWinRight, layoutQOptional, layoutKvOptional};
        args.has_ori_kv = hasOriKv;
        args.has_cmp_kv = hasCmpKv;
        return CheckAndPlan(args, sfmla::CheckSparseFlashMlaMetadata,
                            sfmla::PlanSparseFlashMlaMetadata, sfmla::PlanningCores(),
                            sfmla::CurrentSoc());
      });
}

aclnnStatus aclnnSparseFlashMlaMetadata(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  return sfmla::PhaseTwo("aclnnSparseFlashMlaMetadata", workspace, workspaceSize, executor, stream);
}
