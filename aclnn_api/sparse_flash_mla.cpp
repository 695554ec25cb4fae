// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_sparse_flash_mla.h"

#include "aclnn_api/check_and_plan.h"
#include "aclnn_api/two_phase.h"
#include "op_host/sparse_flash_mla/check.h"
#include "op_host/sparse_flash_mla/tiling.h"
#include "op_kernel/sparse_flash_mla/operand_names.h"

aclnnStatus aclnnSparseFlashMlaGetWorkspaceSize(
    const aclTensor* q, const aclTensor* oriKvOptional, const aclTensor* cmpKvOptional,
    const aclTensor* oriSparseIndicesOptional, const aclTensor* cmpSparseIndicesOptional,
    const aclTensor* oriBlockTableOptional, const aclTensor* cmpBlockTableOptional,
    const aclTensor* cuSeqlensQOptional, const aclTensor* cuSeqlensOriKvOptional,
    const aclTensor* cuSeqlensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedOriKvOptional, const aclTensor* sequsedCmpKvOptional,
    const aclTensor* cmpResidualKvOptional, const aclTensor* oriTopkLengthOptional,
    const aclTensor* cmpTopkLengthOptional, const aclTensor* sinksOptional,
    const aclTensor* metadataOptional, double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode,
    int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, char* layoutQOptional,
    char* layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse,
    const aclTensor* attnOutOut, const aclTensor* softmaxLseOutOptional, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return sfmla::PhaseOne(
      "aclnnSparseFlashMlaGetWorkspaceSize", sfmla::code::kAclnnParamNullptr, workspaceSize,
      executor, [&] {
        sfmla::SparseFlashMlaArgs args;
        args.operands =
            sfmla::MakeOperands(sfmla::kSparseFlashMlaOperandNames, {q,
                                                                     oriKvOptional,
                                                                     cmpKvOptional,
                                                                     oriSparseIndicesOptional,
                                                                     cmpSparseIndicesOptional,
                                                                     oriBlockTableOptional,
                                                                     cmpBlockTableOptional,
                                                                     cuSeqlensQOptional,
                                                                     cuSeqlensOriKvOptional,
                                                                     cuSeqlensCmpKvOptional,
                                                                     sequsedQOptional,
                                                                     sequsedOriKvOptional,
                                                                     sequsedCmpKvOptional,
                                                                     cmpResidualKvOptional,
                                                                     oriTopkLengthOptional,
                                                                     cmpTopkLengthOptional,
                                                                     sinksOptional,
                                                                     metadataOptional,
                                                                     attnOutOut,
                                                                     softmaxLseOutOptional});
        args.attributes = {cmpRatio,    oriMaskMode,     cmpMaskMode,     oriWinLeft,
                           oriWinRight, layoutQOptional, layoutKvOptional};
        args.softmax_scale = softmaxScale;
        args.topk_value_mode = topkValueMode;
        args.return_softmax_lse = returnSoftmaxLse;
        return CheckAndPlanAttention(args, sfmla::CheckSparseFlashMla, sfmla::PlanSparseFlashMla);
      });
}

aclnnStatus aclnnSparseFlashMla(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream) {
  return sfmla::PhaseTwo("aclnnSparseFlashMla", workspace, workspaceSize, executor, stream);
}
