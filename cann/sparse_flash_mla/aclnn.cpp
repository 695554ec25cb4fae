// SPDX-License-Identifier: Apache-2.0
// The C functions of SparseFlashMla on CANN: op_host checks, CANN's executor runs.
#include "aclnnop/aclnn_sparse_flash_mla.h"

#include "aclnn/opdev/op_dfx.h"
#include "cann/sparse_flash_mla/launch.h"
#include "cann/toolkit/tensor_view.h"
#include "cann/toolkit/two_phase.h"

namespace sfmla::cann {
namespace {

using Operands = std::array<const aclTensor*, smla_operand::kCount>;

void Describe(const Operands& given, SparseFlashMlaCall* call) {
  for (size_t slot = 0; slot < given.size(); ++slot) call->operands[slot] = ViewOf(given[slot]);
  if (call->layout_q == nullptr) call->layout_q = "BSND";
  if (call->layout_kv == nullptr) call->layout_kv = "BSND";
}

// What the kernel gets: only what the call uses. An output that nobody asked for is one element of
// the workspace, as the operator type has it always.
aclnnStatus Prepare(const Operands& given, const SparseFlashMlaUse& use, aclOpExecutor* executor,
                    Operands* out) {
  for (size_t slot = 0; slot < given.size(); ++slot) {
    const bool unwanted_lse = slot == smla_operand::kSoftmaxLse && !use.used[slot];
    (*out)[slot] = nullptr;
    if (unwanted_lse) (*out)[slot] = executor->AllocTensor(op::Shape{1}, op::DataType::DT_FLOAT);
    if (use.used[slot]) (*out)[slot] = KernelOperand(given[slot], use.contiguous[slot], executor);
    if ((use.used[slot] || unwanted_lse) && (*out)[slot] == nullptr) {
      return ACLNN_ERR_INNER_NULLPTR;
    }
  }
  return ACLNN_SUCCESS;
}

aclnnStatus PhaseOne(const Operands& given, SparseFlashMlaCall* call, uint64_t* workspace_size,
                     aclOpExecutor** executor) {
  Refusal refusal = PrepareResults(ACLNN_ERR_PARAM_NULLPTR, workspace_size, executor);
  if (!refusal.ok()) return Fail(refusal);
  Describe(given, call);
  SparseFlashMlaUse use;
  refusal = CheckCall(*call, &use);
  if (!refusal.ok()) return Fail(refusal);
  return MakeExecutor(workspace_size, executor, [&](aclOpExecutor* queue) -> aclnnStatus {
    if (use.nothing_to_do) return ACLNN_SUCCESS;
    Operands operands;
    const aclnnStatus status = Prepare(given, use, queue, &operands);
    if (status != ACLNN_SUCCESS) return status;
    return l0op::SparseFlashMla(operands, *call, queue);
  });
}

}  // namespace
}  // namespace sfmla::cann

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
  // All arguments: CANN tells calls apart by what is named here.
  L2_DFX_PHASE_1(
      aclnnSparseFlashMla,
      DFX_IN(q, oriKvOptional, cmpKvOptional, oriSparseIndicesOptional, cmpSparseIndicesOptional,
             oriBlockTableOptional, cmpBlockTableOptional, cuSeqlensQOptional,
             cuSeqlensOriKvOptional, cuSeqlensCmpKvOptional, sequsedQOptional, sequsedOriKvOptional,
             sequsedCmpKvOptional, cmpResidualKvOptional, oriTopkLengthOptional,
             cmpTopkLengthOptional, sinksOptional, metadataOptional, softmaxScale, cmpRatio,
             oriMaskMode, cmpMaskMode, oriWinLeft, oriWinRight, layoutQOptional, layoutKvOptional,
             topkValueMode, returnSoftmaxLse),
      DFX_OUT(attnOutOut, softmaxLseOutOptional));
  sfmla::cann::SparseFlashMlaCall call;
  call.softmax_scale = softmaxScale;
  call.cmp_ratio = cmpRatio;
  call.ori_mask_mode = oriMaskMode;
  call.cmp_mask_mode = cmpMaskMode;
  call.ori_win_left = oriWinLeft;
  call.ori_win_right = oriWinRight;
  call.layout_q = layoutQOptional;
  call.layout_kv = layoutKvOptional;
  call.topk_value_mode = topkValueMode;
  call.return_softmax_lse = returnSoftmaxLse;
  return sfmla::cann::PhaseOne({q,
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
                                softmaxLseOutOptional},
                               &call, workspaceSize, executor);
}

aclnnStatus aclnnSparseFlashMla(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream) {
  L2_DFX_PHASE_2(aclnnSparseFlashMla);
  return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}
