// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention: attention of many query heads over one shared key/value head, where every
// query row names the blocks of tokens it attends to. Query and key come in two parts: 512 elements
// that count in the score and are the value too, and 64 with rotary embedding that count in the
// score only. aclnn_sparse_flash_attention_v2.h is the same operator with sinks.
//
// Contents: 1 what it computes, 2 tensors, 3 attributes, 4 relations, 5 values in device memory,
// 6 errors, 7 ownership, threads, readiness, 8 numerics, 9 example.
//
// Where a rule comes from: [pub] the published operator text and its reference computation,
// [here] this library's choice where published sources are silent or contradict each other.
//
// Letters: B requests; S1, S2 query rows and tokens per request; T1, T2 the same packed over all
// requests; N1 query heads (1..128); K lanes of the index list; P pages; `page` tokens per page;
// M pages per request. KV heads are 1.
#ifndef ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_H_
#define ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// 1 What it computes -----------------------------------------------------------------------------
//
// Per request b: s1 query rows and s2 tokens (section 2 says from where). The s1 rows are the last
// ones of the s2 tokens: row t has position s2 - s1 + t, maybe negative. block = sparseBlockSize.
// Equivalent loop:
//
//   for b in [0, B): for t in [0, s1): for h in [0, N1):
//     visible = sparseMode 0: s2
//               sparseMode 3: max(s2 - s1 + t + 1, 0)
//     tokens = []
//     for i in the first min(K, ceil(visible / block)) lanes of sparseIndices[b][t]:
//       if i < 0: break                                        # later lanes are not looked at
//       tokens += [i * block .. min((i + 1) * block, visible)) # none if i * block >= visible
//
//     if tokens is empty: attentionOut[b][t][h] = 0; max = sum = 0
//     else:
//       score[j] = scaleValue * (dot(query[b][t][h], key[b][j])
//                                + dot(queryRope[b][t][h], keyRope[b][j]))
//       max = max_j score[j]
//       sum = sum_j exp(score[j] - max)
//       attentionOut[b][t][h] = (sum_j exp(score[j] - max) * value[b][j]) / sum
//     softmaxMax[b][t][h] = max; softmaxSum[b][t][h] = sum
//
// Lanes hold ids of blocks within the request, in any order; one that appears twice counts twice.
// The last block of a request may be partial and stand anywhere in the list. [pub]
//
// [here] Query rows that no request owns (t >= actualSeqLengthsQuery[b] in BSND, past the last end
// in TND) are written: attentionOut, max and sum 0. `value` is honoured when given: the products
// read the key instead, and callers pass the key twice, so that both agree. A NaN in an attended
// token reaches the rows that attend to it and no other.
//
// max + ln(sum) is the log-sum-exp of a row. To join results over disjoint sets of tokens, weigh
// each attentionOut with exp(lse - largest lse) and divide by the sum of the weights; a row without
// a token has sum 0, so its weight is exp(-inf) = 0.
//
// 2 Tensors --------------------------------------------------------------------------------------
//
// Optional means NULL or zero elements; both mean absent. Index, length and table tensors are
// INT32.
//
//   name                   shape                                        when required
//   query                  BSND (B,S1,N1,512) | TND (T1,N1,512)         always; FLOAT16 or BFLOAT16
//   key                    BSND (B,S2,1,512) | TND (T2,1,512)
//                          | PA_BSND (P,page,1,512)                     always; dtype of query
//   value                  shape and dtype of key                       NULL: the key
//   sparseIndices          BSND (B,S1,1,K) | TND (T1,1,K), as query     always
//   blockTableOptional     (B,M)  page ids, first page first            PA_BSND; else absent
//   actualSeqLengthsQueryOptional
//                          (B)    TND: where each request ends          TND
//                                 BSND: s1; rows start where they did   optional
//   actualSeqLengthsKvOptional
//                          (B)    TND keys: where each request ends     TND keys, PA_BSND
//                                 else: s2, also with TND queries       optional with BSND keys
//   queryRopeOptional      as query with 64 for 512                     always, despite its name
//   keyRopeOptional        as key with 64 for 512                       always, despite its name
//   attentionOut           shape and dtype of query                     always (output)
//   softmaxMax, softmaxSum BSND (B,1,S1,N1) | TND (1,T1,N1), FLOAT      returnSoftmaxLse (outputs)
//
// Ends are running totals without a leading 0: requests of 3, 0 and 4 rows are {3, 3, 7}. Their
// number is B. [pub] Token j of request b in PA_BSND: page table[b][j / page], slot j % page; at
// most M * page tokens. Page ids start at 0. page is 1..1024 and need be no multiple of the block
// [here]. key, value and keyRope share the table and have P and page in common. S2 or T2 may be 0.
// Only tokens that a row attends to are read, and only table entries that such tokens need: the
// rest may hold anything, NaN included. [here]
//
// Strides: any, for inputs. key, value and keyRope are read in place if the stride is at least 0 on
// axis 0, at least their width on the token axis of a rank-4 view, and 1 on the innermost; other
// views, and other inputs that are not contiguous, are copied in stream order into the workspace.
// Outputs must be contiguous and share no element with another tensor of the call, nor with the
// workspace; each phase compares the addresses it sees. [here] Data addresses are multiples of the
// element size, nothing more. No axis is longer than 2147483647, and all copies together take at
// most 2^47 bytes; offsets are 64 bits wide: a cache may exceed 2^31 elements. Format ND.
//
// 3 Attributes -----------------------------------------------------------------------------------
//
//   scaleValue              finite; 0 and negative allowed; used as a float
//   sparseBlockSizeOptional tokens of a block: a power of two, 1..128
//   layoutQueryOptional     "BSND" or "TND"; NULL = "BSND"
//   layoutKvOptional        "BSND", "TND" or "PA_BSND"; NULL = "BSND". Equal to layoutQuery, or
//                           PA_BSND, which may also be called "PA_ND" or "PA_BBND"
//   sparseMode              0 all tokens, 3 causal
//   preTokens, nextTokens   9223372036854775807: no other window
//   attentionMode           2: rotary parts in tensors of their own. Published definitions give 0
//                           as its default and refuse it
//   returnSoftmaxLse        false leaves softmaxMax and softmaxSum untouched, whatever their shape,
//                           and allows NULL for either or both [here]; true with PA_BSND too [here]
//
// 4 Relations ------------------------------------------------------------------------------------
//
// All 16-bit tensors have one dtype. Query heads, B, T1 and S1 agree in every tensor that carries
// them. A list has at least one lane, and may have more than there are blocks. A product's narrower
// rules apply as well when the process runs with SFMLA_RULES=ascend910b or ascend950; README.md has
// the table. No metadata is needed: the task plans its own work.
//
// 5 Values in device memory ----------------------------------------------------------------------
//
// Phase one reads no device memory and waits for nothing, so these are found when the task runs,
// and reported by the next synchronize of the stream. Index lists cannot be wrong: section 1 covers
// every value.
//   ends               at least 0, do not decrease, within the packed tensor
//   lengths            0 <= value <= rows or tokens the tensor has for that request
//   block table        an entry that an attended token needs is in [0, P)
// After such an error the outputs of that call are unspecified; nothing outside the given tensors
// has been read or written, and the next call on the stream works.
//
// 6 Errors ---------------------------------------------------------------------------------------
//
//   161001  NULL query, key, sparseIndices, queryRope, keyRope, attentionOut, workspaceSize or
//           executor; a NULL tensor that the layout requires (section 2); NULL softmaxMax or
//           softmaxSum with returnSoftmaxLse; phase two: NULL executor, or NULL workspace when one
//           is needed
//   161002  any other refusal: an empty required tensor, dtype, rank, an extent, an attribute, a
//           layout pair, data not inside a live allocation; phase two: workspace too small,
//           workspace or an output in the memory of another operand, executor already consumed or
//           of another operator
//   361001  no host memory left; phase two: no context on this thread, or a stream of another one
//   100000  phase one: an environment variable SFMLA_... holds what it must not
//   561003  the device has no kernel of this operator    561000  a failure inside the library
//   507015  from synchronize: a value of section 5
// aclGetRecentErrMsg() then holds one sentence: operand, what was found, what is allowed. After a
// refusal *workspaceSize is 0 and *executor is NULL.
//
// 7 Ownership, threads, readiness ----------------------------------------------------------------
//
// As for SparseFlashMla (aclnn_sparse_flash_mla.h, section 7).
//
// 8 Numerics -------------------------------------------------------------------------------------
//
// Scores, softmax and sums are FLOAT; attentionOut is rounded once, half to even. The bits of a row
// depend on that row's inputs only: not on the batch, its place in it, the layout, page sizes, or
// thread and core counts. See docs/numerics.md.

// Phase one: checks the call, writes the workspace size in bytes and an executor.
ACLNN_API aclnnStatus aclnnSparseFlashAttentionGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* sparseIndices, const aclTensor* blockTableOptional,
    const aclTensor* actualSeqLengthsQueryOptional, const aclTensor* actualSeqLengthsKvOptional,
    const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional, double scaleValue,
    int64_t sparseBlockSizeOptional, char* layoutQueryOptional, char* layoutKvOptional,
    int64_t sparseMode, int64_t preTokens, int64_t nextTokens, int64_t attentionMode,
    bool returnSoftmaxLse, const aclTensor* attentionOut, const aclTensor* softmaxMax,
    const aclTensor* softmaxSum, uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseFlashAttention(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, const aclrtStream stream);

// 9 Example: decode, packed queries, paged cache -------------------------------------------------
//
//   uint64_t bytes = 0;
//   aclOpExecutor* executor = NULL;
//   void* workspace = NULL;
//   aclnnSparseFlashAttentionGetWorkspaceSize(query, key, NULL, sparse_indices, block_table,
//       query_ends, kv_lengths, query_rope, key_rope, 0.0416666667, 1, "TND", "PA_BSND", 3,
//       INT64_MAX, INT64_MAX, 2, false, attention_out, NULL, NULL, &bytes, &executor);
//   if (bytes > 0) aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
//   aclnnSparseFlashAttention(workspace, bytes, executor, stream);
//   aclrtSynchronizeStream(stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_FLASH_ATTENTION_H_
