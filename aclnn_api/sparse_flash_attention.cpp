// SPDX-License-Identifier: Apache-2.0
// Both versions: V1 is V2 without sinks.
#include "aclnn_api/check_and_plan.h"
#include "aclnn_api/two_phase.h"
#include "aclnnop/aclnn_sparse_flash_attention.h"
#include "aclnnop/aclnn_sparse_flash_attention_v2.h"
#include "op_host/sparse_flash_attention/check.h"
#include "op_host/sparse_flash_attention/tiling.h"
#include "op_kernel/sparse_flash_attention/operand_names.h"

namespace {

constexpr const char* kV1 = "aclnnSparseFlashAttention";
constexpr const char* kV2 = "aclnnSparseFlashAttentionV2";

sfmla::Result<sfmla::Launch> Plan(const sfmla::SparseFlashAttentionArgs& args) {
  return sfmla::CheckAndPlanAttention(args, sfmla::CheckSparseFlashAttention,
                                      sfmla::PlanSparseFlashAttention);
}

// Phase one of `op_name`; what V1 does not have is absent.
aclnnStatus PhaseOneOf(const char* op_name, const char* api, const aclTensor* query,
                       const aclTensor* key, const aclTensor* value, const aclTensor* sparseIndices,
                       const aclTensor* blockTable, const aclTensor* actualSeqLengthsQuery,
                       const aclTensor* actualSeqLengthsKv, const aclTensor* queryRope,
                       const aclTensor* keyRope, const aclTensor* sinks, double scaleValue,
                       int64_t sparseBlockSize, const char* layoutQuery, const char* layoutKv,
                       int64_t sparseMode, int64_t preTokens, int64_t nextTokens,
                       int64_t attentionMode, bool returnSoftmaxLse, const aclTensor* attentionOut,
                       const aclTensor* softmaxMax, const aclTensor* softmaxSum,
                       uint64_t* workspaceSize, aclOpExecutor** executor) {
  return sfmla::PhaseOne(api, sfmla::code::kAclnnParamNullptr, workspaceSize, executor, [&] {
    sfmla::SparseFlashAttentionArgs args;
    args.op_name = op_name;
    args.operands = sfmla::MakeOperands(
        sfmla::kSparseFlashAttentionOperandNames,
        {query, key, value, sparseIndices, blockTable, actualSeqLengthsQuery, actualSeqLengthsKv,
         queryRope, keyRope, sinks, attentionOut, softmaxMax, softmaxSum});
    args.scale_value = scaleValue;
    args.sparse_block_size = sparseBlockSize;
    args.layout_query = layoutQuery;
    args.layout_kv = layoutKv;
    args.sparse_mode = sparseMode;
    args.pre_tokens = preTokens;
    args.next_tokens = nextTokens;
    args.attention_mode = attentionMode;
    args.return_softmax_lse = returnSoftmaxLse;
    return Plan(args);
  });
}

}  // namespace

aclnnStatus aclnnSparseFlashAttentionGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* sparseIndices, const aclTensor* blockTableOptional,
    const aclTensor* actualSeqLengthsQueryOptional, const aclTensor* actualSeqLengthsKvOptional,
    const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional, double scaleValue,
    int64_t sparseBlockSizeOptional, char* layoutQueryOptional, char* layoutKvOptional,
    int64_t sparseMode, int64_t preTokens, int64_t nextTokens, int64_t attentionMode,
    bool returnSoftmaxLse, const aclTensor* attentionOut, const aclTensor* softmaxMax,
    const aclTensor* softmaxSum, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return PhaseOneOf(kV1, "aclnnSparseFlashAttentionGetWorkspaceSize", query, key, value,
                    sparseIndices, blockTableOptional, actualSeqLengthsQueryOptional,
                    actualSeqLengthsKvOptional, queryRopeOptional, keyRopeOptional, nullptr,
                    scaleValue, sparseBlockSizeOptional, layoutQueryOptional, layoutKvOptional,
                    sparseMode, preTokens, nextTokens, attentionMode, returnSoftmaxLse,
                    attentionOut, softmaxMax, softmaxSum, workspaceSize, executor);
}

aclnnStatus aclnnSparseFlashAttention(void* workspace, uint64_t workspaceSize,
                                      aclOpExecutor* executor, const aclrtStream stream) {
  return sfmla::PhaseTwo(kV1, workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnSparseFlashAttentionV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* sparseIndices, const aclTensor* blockTableOptional,
    const aclTensor* actualSeqLengthsQueryOptional, const aclTensor* actualSeqLengthsKvOptional,
    const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional,
    const aclTensor* sinksOptional, double scaleValue, int64_t sparseBlockSizeOptional,
    char* layoutQueryOptional, char* layoutKvOptional, int64_t sparseMode, int64_t preTokens,
    int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse, const aclTensor* attentionOut,
    const aclTensor* softmaxMax, const aclTensor* softmaxSum, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  return PhaseOneOf(kV2, "aclnnSparseFlashAttentionV2GetWorkspaceSize", query, key, value,
                    sparseIndices, blockTableOptional, actualSeqLengthsQueryOptional,
                    actualSeqLengthsKvOptional, queryRopeOptional, keyRopeOptional, sinksOptional,
                    scaleValue, sparseBlockSizeOptional, layoutQueryOptional, layoutKvOptional,
                    sparseMode, preTokens, nextTokens, attentionMode, returnSoftmaxLse,
                    attentionOut, softmaxMax, softmaxSum, workspaceSize, executor);
}

aclnnStatus aclnnSparseFlashAttentionV2(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, const aclrtStream stream) {
  return sfmla::PhaseTwo(kV2, workspace, workspaceSize, executor, stream);
}
