// SPDX-License-Identifier: Apache-2.0
// The C functions of SparseFlashMlaMetadata on CANN.
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"

#include "aclnn/opdev/op_dfx.h"
#include "aclnn/opdev/platform.h"
#include "cann/bridge/sparse_flash_mla_metadata.h"
#include "cann/sparse_flash_mla_metadata/launch.h"
#include "cann/sparse_flash_mla_metadata/signature.h"
#include "cann/toolkit/tensor_view.h"
#include "cann/toolkit/two_phase.h"

namespace sfmla::cann {
namespace {

using Operands = std::array<const aclTensor*, metadata_operand::kCount>;

aclnnStatus Queue(const Operands& given, const SparseFlashMlaMetadataPlan& plan,
                  aclOpExecutor* executor) {
  Operands operands{};
  for (size_t slot = 0; slot < given.size(); ++slot) {
    if (!plan.used[slot]) continue;
    operands[slot] = KernelOperand(given[slot], slot < kMetadataInputs, executor);
    if (operands[slot] == nullptr) return ACLNN_ERR_INNER_NULLPTR;
  }
  return l0op::SparseFlashMlaMetadata(operands, plan.tiling, executor);
}

aclnnStatus PhaseOne(const Operands& given, SparseFlashMlaMetadataCall* call,
                     uint64_t* workspace_size, aclOpExecutor** executor) {
  Refusal refusal = PrepareResults(ACLNN_ERR_INNER_NULLPTR, workspace_size, executor);
  if (!refusal.ok()) return Fail(refusal);
  for (size_t slot = 0; slot < given.size(); ++slot) call->operands[slot] = ViewOf(given[slot]);
  const op::PlatformInfo& platform = op::GetCurrentPlatformInfo();
  SparseFlashMlaMetadataPlan plan;
  refusal = PlanCall(*call, platform.GetCubeCoreNum(), platform.GetVectorCoreNum(), &plan);
  if (!refusal.ok()) return Fail(refusal);
  return MakeExecutor(workspace_size, executor,
                      [&](aclOpExecutor* queue) { return Queue(given, plan, queue); });
}

}  // namespace
}  // namespace sfmla::cann

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
  // All arguments: CANN tells calls apart by what is named here.
  L2_DFX_PHASE_1(
      aclnnSparseFlashMlaMetadata,
      DFX_IN(cuSeqlensQOptional, cuSeqlensOriKvOptional, cuSeqlensCmpKvOptional, sequsedQOptional,
             sequsedOriKvOptional, sequsedCmpKvOptional, cmpResidualKvOptional,
             oriTopkLengthOptional, cmpTopkLengthOptional, numHeadsQ, numHeadsKv, headDim,
             batchSize, maxSeqlenQ, maxSeqlenOriKv, maxSeqlenCmpKv, oriTopk, cmpTopk, cmpRatio,
             oriMaskMode, cmpMaskMode, oriWinLeft, oriWinRight, layoutQOptional, layoutKvOptional,
             hasOriKv, hasCmpKv),
      DFX_OUT(metaData));
  sfmla::cann::SparseFlashMlaMetadataCall call;
  call.num_heads_q = numHeadsQ;
  call.num_heads_kv = numHeadsKv;
  call.head_dim = headDim;
  call.batch_size = batchSize;
  call.max_seqlen_q = maxSeqlenQ;
  call.max_seqlen_ori_kv = maxSeqlenOriKv;
  call.max_seqlen_cmp_kv = maxSeqlenCmpKv;
  call.ori_topk = oriTopk;
  call.cmp_topk = cmpTopk;
  call.cmp_ratio = cmpRatio;
  call.ori_mask_mode = oriMaskMode;
  call.cmp_mask_mode = cmpMaskMode;
  call.ori_win_left = oriWinLeft;
  call.ori_win_right = oriWinRight;
  call.layout_q = layoutQOptional;
  call.layout_kv = layoutKvOptional;
  call.has_ori_kv = hasOriKv;
  call.has_cmp_kv = hasCmpKv;
  return sfmla::cann::PhaseOne(
      {cuSeqlensQOptional, cuSeqlensOriKvOptional, cuSeqlensCmpKvOptional, sequsedQOptional,
       sequsedOriKvOptional, sequsedCmpKvOptional, cmpResidualKvOptional, oriTopkLengthOptional,
       cmpTopkLengthOptional, metaData},
      &call, workspaceSize, executor);
}

aclnnStatus aclnnSparseFlashMlaMetadata(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  L2_DFX_PHASE_2(aclnnSparseFlashMlaMetadata);
  return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}
