// SPDX-License-Identifier: Apache-2.0
// SparseAttnSharedkv: attention of many query heads over one shared key/value head. Each query row
// sees a window of an original KV cache and, optionally, some or all complete groups of a
// compressed one. It is SparseFlashMla under its earlier name and with fewer arguments: one tensor
// of lengths says how long both caches are.
//
// Contents: 1 what it computes, 2 tensors, 3 attributes, 4 modes and relations, 5 values in device
// memory, 6 errors, 7 ownership, threads, readiness, 8 numerics, 9 example.
//
// Letters and the tags [pub], [here]: see aclnn_sparse_flash_mla.h. K: lanes of the index list.
#ifndef ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_H_
#define ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_H_

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
// Per request b: s1 query rows, s2 original tokens (section 2 says from where), ratio = cmpRatio.
// The s1 rows are the last ones of a prefix of s2 tokens: row t has position p = s2 - s1 + t.
// Division rounds down. Equivalent loop:
//
//   for b in [0, B): for t in [0, s1): for h in [0, N1):
//     if p < 0: attnOut[b][t][h] = 0; lse = 0; continue      # more rows than tokens
//     keys = ori[b][max(p - oriWinLeft, 0) .. min(p + oriWinRight, s2 - 1)]       # K and V in one
//     if cmpKv:
//       groups = min((p + 1) / ratio, rows of cmp[b])        # complete at the row's own position
//       if no cmpSparseIndices: keys += cmp[b][0 .. groups)
//       else: for i in the first min(K, groups) lanes of cmpSparseIndices[b][t]:
//               if i < 0: break
//               if i < groups: keys += cmp[b][i]             # one that appears twice counts twice
//
//     score[j] = softmaxScale * dot(q[b][t][h], keys[j])
//     m   = max(sinks[h], max_j score[j])                    # a sink is not scaled
//     sum = exp(sinks[h] - m) + sum_j exp(score[j] - m)
//     attnOut[b][t][h] = (sum_j exp(score[j] - m) * keys[j]) / sum
//     lse              = m + ln(sum)
//
// [pub] window, groups, list, sink. [here] query rows that no request owns (t >= sequsedQ[b], or
// past cuSeqlensQ[B]) are written: attnOut 0, lse 0. Sinks of -inf, +inf and NaN, and NaN in an
// attended token, act as in SparseFlashMla.
//
// 2 Tensors --------------------------------------------------------------------------------------
//
// Optional means NULL or zero elements; both mean absent. What a mode has no use for is ignored,
// except cuSeqlensQ with layoutQ BSND and oriSparseIndices (161002). Index, length and table
// tensors are INT32.
//
//   name              shape                                      when required
//   q                 BSND (B,S1,N1,512) | TND (T1,N1,512)       always; FLOAT16 or BFLOAT16
//   oriKv             PA_ND (P,page,1,512) | BSND (B,S2,1,512)
//                     | TND (T2,1,512)                           always; dtype of q
//   cmpKv             the same with its own P, page, S3, T3      CFA, SCFA; may have no rows while
//                                                                no request has a complete group
//   oriSparseIndices  must be absent [pub]                       never
//   cmpSparseIndices  BSND (B,S1,1,K) | TND (T1,1,K)             SCFA
//   oriBlockTable     (B,M)   page ids, first page first         layoutKv PA_ND
//   cmpBlockTable     (B,M')  the same for cmpKv                 layoutKv PA_ND with cmpKv
//   cuSeqlensQ        (B+1)   prefix sums, query rows            layoutQ TND
//   cuSeqlensOriKv    (B+1)   prefix sums, original tokens       layoutKv TND
//   cuSeqlensCmpKv    (B+1)   prefix sums, compressed rows       layoutKv TND with cmpKv
//   sequsedQ          (B)     s1; rows start where they did      optional, in any layout [here]
//   sequsedKv         (B)     s2 in original tokens              PA_ND; counts in any layout [here]
//   sinks             (N1) FLOAT, a logit without a value        always
//   metadata          (1024)  see section 4                      always
//   attnOut           shape and dtype of q                       always (output)
//   softmaxLseOut     BSND (B,S1,N1,1) | TND (T1,N1,1), FLOAT    always (output); without
//                                                                returnSoftmaxLse of any shape
//
// Lengths when the seqused tensor is absent: the difference of prefix sums (TND), S1 and S2 (BSND).
// A request has floor(s2 / ratio) compressed rows, fewer if its part of cmpKv (S3, the difference
// of prefix sums, M' pages) has no room for them; with BSND caches and no sequsedKv, S3 must be at
// least floor(S2 / ratio). Token j of request b in PA_ND: page table[b][j / page], slot j % page.
// Page ids start at 0. page is 1..1024, the two caches independent. Only tokens that a row attends
// to are read, and only table entries that such tokens need: the rest may hold anything, NaN
// included. [here]
//
// Strides: as for SparseFlashMla. Caches may have any stride of at least 0 on axis 0, of at least
// 512 on the token axis of a rank-4 view and 1 on the innermost; other inputs may have any strides;
// outputs must be contiguous and share no element with another tensor of the call. [here] No axis
// is longer than 2147483647.
//
// 3 Attributes -----------------------------------------------------------------------------------
//
//   softmaxScale     finite; 0 and negative allowed; used as a float. Usually 1/sqrt(512)
//   cmpRatio         1..128, original tokens per compressed row; ignored without cmpKv
//   oriMaskMode      4, the window
//   cmpMaskMode      3, causal in units of the ratio; ignored without cmpKv
//   oriKvStride      elements from one page of oriKv to the next, with layoutKv PA_ND only: 0 = the
//                    stride of the view [here]; else at least page * 512, instead of that stride
//   cmpKvStride      the same for cmpKv
//   oriWinLeft       tokens before the position, >= 0; 127 is the published one
//   oriWinRight      tokens after the position, >= 0; 0 is the published one
//   layoutQOptional  "BSND" or "TND"; NULL = "BSND"
//   layoutKvOptional "PA_ND", "BSND" or "TND"; NULL = "PA_ND". Any of them goes with any layoutQ.
//                    "PA_BBND" and "PA_BSND" are other names of PA_ND
//   returnSoftmaxLse false leaves softmaxLseOut untouched
//
// 4 Modes and relations --------------------------------------------------------------------------
//
//   mode  cmpKv  cmpSparseIndices  in SparseFlashMla
//   SWA   no     no                SWA
//   CFA   yes    no                HCA
//   SCFA  yes    yes               CSA
//
// cmpSparseIndices without cmpKv: 161002. q, oriKv, cmpKv and attnOut have one dtype. Query heads,
// B, T1 and S1 agree in every tensor that carries them. An index list has at least one lane. A
// product's narrower rules apply as well when the process runs with SFMLA_RULES=ascend910b;
// ascend950 does not have this operator. README.md has the table.
//
// Metadata is a hint: the same numbers come out whatever the 1024 words hold, zeros and plans of
// other implementations included. But words that aclnnSparseAttnSharedkvMetadata of this library
// wrote for another call are a mistake: the stream reports 507018 and says what differs. [here]
//
// This call and the SparseFlashMla call with sequsedOriKv = sequsedKv, sequsedCmpKv = sequsedKv /
// ratio, cmpResidualKv = sequsedKv mod ratio, and the same masks and windows give the same bits
// (oriWinRight 0, or no request with more rows than tokens).
//
// 5 Values in device memory ----------------------------------------------------------------------
//
// Phase one reads no device memory and waits for nothing, so these are found when the task runs,
// and reported by the next synchronize of the stream. Index lists cannot be wrong.
//   prefix sums        start at 0, do not decrease, end within the tensor
//   seqused            0 <= value <= tokens or rows the tensor has for that request
//   block table        an entry that an attended token needs is in [0, P)
// After such an error the outputs of that call are unspecified; nothing outside the given tensors
// has been read or written, and the next call on the stream works.
//
// 6 Errors ---------------------------------------------------------------------------------------
//
//   161001  NULL q, oriKv, sinks, metadata, attnOut, softmaxLseOut, workspaceSize or executor, or a
//           NULL tensor that the layout requires (section 2); phase two: NULL executor, or NULL
//           workspace when one is needed
//   161002  any other refusal: an empty required tensor, dtype, rank, an extent, a stride, an
//           attribute, data not inside a live allocation; phase two: workspace too small,
//           workspace or an output in the memory of another operand, executor already consumed or
//           of another operator
//   361001  no host memory left; phase two: no context on this thread, or a stream of another one
//   100000  phase one: an environment variable SFMLA_... holds what it must not
//   561003  the device has no kernel of this operator    561000  a failure inside the library
//   507015  from synchronize: a value of section 5    507018  from synchronize: metadata mismatch
// aclGetRecentErrMsg() then holds one sentence: operand, what was found, what is allowed. After a
// refusal *workspaceSize is 0 and *executor is NULL.
//
// 7 Ownership, threads, readiness ----------------------------------------------------------------
//
// As for SparseFlashMla (aclnn_sparse_flash_mla.h, section 7).
//
// 8 Numerics -------------------------------------------------------------------------------------
//
// Scores, softmax and sums are FLOAT; attnOut is rounded once, half to even. The bits of a row
// depend on that row's inputs only: not on the batch, its place in it, thread or core counts, or
// the metadata. See docs/numerics.md.

// Phase one: checks the call, writes the workspace size in bytes and an executor.
ACLNN_API aclnnStatus aclnnSparseAttnSharedkvGetWorkspaceSize(
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
    aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseAttnSharedkv(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

// 9 Example: a window-only layer, packed queries, paged cache ------------------------------------
//
//   uint64_t bytes = 0;
//   aclOpExecutor* executor = NULL;
//   void* workspace = NULL;
//   aclnnSparseAttnSharedkvGetWorkspaceSize(q, ori_kv, NULL, NULL, NULL, ori_block_table, NULL,
//       cu_seqlens_q, NULL, NULL, NULL, seqused_kv, sinks, metadata, 0.0441941738, 1, 4, 3, 0, 0,
//       127, 0, "TND", "PA_ND", false, attn_out, softmax_lse, &bytes, &executor);
//   if (bytes > 0) aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
//   aclnnSparseAttnSharedkv(workspace, bytes, executor, stream);
//   aclrtSynchronizeStream(stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_H_
