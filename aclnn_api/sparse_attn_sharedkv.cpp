// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_sparse_attn_sharedkv.h"

#include "aclnn_api/check_and_plan.h"
#include "aclnn_api/two_phase.h"
#include "op_host/sparse_attn_sharedkv/check.h"
#include "op_host/sparse_attn_sharedkv/tiling.h"
#include "op_kernel/sparse_attn_sharedkv/operand_names.h"

aclnnStatus aclnnSparseAttnSharedkvGetWorkspaceSize(
    const aclTensor* q, const aclTensor* oriKvOptional, const aclTensor* cmpKvOptional,
    const aclTensor* oriSparseIndicesOptional, const aclTensor* cmpSparseIndicesOptional,
    const aclTensor* oriBlockTableOptional, const aclTensor* cmpBlockTableOptional,
    const aclTensor* cuSeqlensQOptional, const aclTensor* cuSeqlensOriKvOptional,
    const aclTensor* cuSeqlensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedKvOptional, const aclTensor* sinksOptional,
    const aclTensor* metadataOptional, double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode,
    int64_t cmpMaskMode, int64_t oriKvStride, int64_t cmpKvStride, int64_t oriWinLeft,
    int64_t oriWinRight, char* layoutQOptional, char* layoutKvOptional, bool returnSoftmaxLse,
    const aclTensor* attnOutOut, const aclTensor* softmaxLseOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return sfmla::PhaseOne(
      "aclnnSparseAttnSharedkvGetWorkspaceSize", sfmla::code::kAclnnParamNullptr, workspaceSize,
      executor, [&] {
        sfmla::SparseAttnSharedkvArgs args;
        args.operands = sfmla::MakeOperands(
            sfmla::kSparseAttnSharedkvOperandNames,
            {q, oriKvOptional, cmpKvOptional, oriSparseIndicesOptional, cmpSparseIndicesOptional,
             oriBlockTableOptional, cmpBlockTableOptional, cuSeqlensQOptional,
             cuSeqlensOriKvOptional, cuSeqlensCmpKvOptional, sequsedQOptional, sequsedKvOptional,
             sinksOptional, metadataOptional, attnOutOut, softmaxLseOut});
        args.attributes = {cmpRatio,    oriMaskMode,     cmpMaskMode,     oriWinLeft,
                           oriWinRight, layoutQOptional, layoutKvOptional};
        args.softmax_scale = softmaxScale;
        args.ori_kv_stride = oriKvStride;
        args.cmp_kv_stride = cmpKvStride;
        args.return_softmax_lse = returnSoftmaxLse;
        return CheckAndPlanAttention(args, sfmla::CheckSparseAttnSharedkv,
                                     [](const auto&, const auto& problem, const auto& target) {
                                       return sfmla::PlanSparseAttnSharedkv(problem, target);
                                     });
      });
}

aclnnStatus aclnnSparseAttnSharedkv(void* workspace, uint64_t workspaceSize,
                                    aclOpExecutor* executor, aclrtStream stream) {
  return sfmla::PhaseTwo("aclnnSparseAttnSharedkv", workspace, workspaceSize, executor, stream);
}
