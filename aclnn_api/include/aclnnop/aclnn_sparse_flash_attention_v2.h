// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttentionV2: SparseFlashAttention with sinks. aclnn_sparse_flash_attention.h is the
// manual of both; here is what V2 adds.
//
// sinksOptional: FLOAT (N1), a logit per query head that has no value; NULL or zero elements: none,
// and then V2 and V1 give the same bits. With sinks, a row that has tokens computes
//
//   max = max(sinks[h], max_j score[j])                     # a sink is not scaled
//   sum = exp(sinks[h] - max) + sum_j exp(score[j] - max)
//
// and divides by this sum. A row without a token has attentionOut 0 and
//
//   max = sinks[h], sum = 1    if it has a position: sparseMode 0, or s2 - s1 + t >= 0 [pub]
//   max = 0, sum = 0           if it has none, or if no request owns it
//
// A sink of -inf is as no sink; +inf gives attentionOut 0, max +inf and sum 1; NaN makes
// attentionOut and sum NaN in rows that have a token. [here]
//
// Published texts allow sinks on one product only, and not with PA_BSND; the CPU device takes them
// with every layout. [here] SFMLA_RULES says what a product refuses, with 161002.
//
// To join results over disjoint sets of tokens, pass the sinks to one of the calls only.
#ifndef ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_V2_H_
#define ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_V2_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Phase one: checks the call, writes the workspace size in bytes and an executor.
ACLNN_API aclnnStatus aclnnSparseFlashAttentionV2GetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* sparseIndices, const aclTensor* blockTableOptional,
    const aclTensor* actualSeqLengthsQueryOptional, const aclTensor* actualSeqLengthsKvOptional,
    const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional,
    const aclTensor* sinksOptional, double scaleValue, int64_t sparseBlockSizeOptional,
    char* layoutQueryOptional, char* layoutKvOptional, int64_t sparseMode, int64_t preTokens,
    int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse, const aclTensor* attentionOut,
    const aclTensor* softmaxMax, const aclTensor* softmaxSum, uint64_t* workspaceSize,
    aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseFlashAttentionV2(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor,
                                                  const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_V2_H_
