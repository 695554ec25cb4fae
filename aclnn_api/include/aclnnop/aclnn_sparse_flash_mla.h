// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla: attention of many query heads over one shared key/value head. Each query row
// sees a window of an original KV cache, some or all tokens of a compressed KV cache, or both.
//
// Contents: 1 what it computes, 2 tensors, 3 attributes, 4 modes and relations, 5 values in device
// memory, 6 errors, 7 ownership, threads, readiness, 8 numerics, 9 example.
//
// Where a rule comes from: [pub] the published operator text and its reference computation,
// [here] this library's choice where published sources are silent or contradict each other.
//
// Letters: B requests; S1, S2, S3 query, original-KV, compressed-KV tokens per request; T1, T2, T3
// the same packed over all requests; N1 query heads (1..128); K1, K2 lanes of the index lists;
// P pages; `page` tokens per page; M pages per request. Head width is 512, KV heads are 1.
#ifndef ACLNNOP_ACLNN_SPARSE_FLASH_MLA_H_
#define ACLNNOP_ACLNN_SPARSE_FLASH_MLA_H_

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
// Per request b: s1 query rows, s2 original tokens, s3 compressed tokens (section 2 says from
// where), ratio = cmpRatio, residual = cmpResidualKv[b], 0 where section 2 does not require it.
// The s1 rows are the last ones of a prefix of s2 tokens: row t has position p = s2 - s1 + t,
// maybe negative. clip(x, n) = min(max(x, 0), n). Division rounds down. Equivalent loop:
//
//   for b in [0, B): for t in [0, s1): for h in [0, N1):
//     keys = []                                          # token vectors of 512, used as K and V
//     lo, hi = oriMaskMode 0: 0, s2
//              oriMaskMode 3: 0, clip(p + 1, s2)
//              oriMaskMode 4: oriWinLeft  == -1 ? 0  : clip(p - oriWinLeft, s2),
//                             oriWinRight == -1 ? s2 : clip(p + 1 + oriWinRight, s2)
//     if no oriSparseIndices:   keys += ori[b][lo .. hi)
//     else: for i in list(oriSparseIndices[b][t], hi, oriTopkLength[b][t]):
//             if lo <= i < hi:  keys += ori[b][i]
//     if cmpKv:
//       threshold = cmpMaskMode 0: s3
//                   cmpMaskMode 3: clip((s3 * ratio + residual - s1 + t + 1) / ratio, s3)
//       if no cmpSparseIndices: keys += cmp[b][0 .. threshold)
//       else: for i in list(cmpSparseIndices[b][t], threshold, cmpTopkLength[b][t]):
//               if i < threshold: keys += cmp[b][i]
//
//     if keys is empty: attnOut[b][t][h] = 0; lse = 0
//     else:
//       score[j] = softmaxScale * dot(q[b][t][h], keys[j])
//       m   = max(sinks[h], max_j score[j])
//       sum = exp(sinks[h] - m) + sum_j exp(score[j] - m)
//       attnOut[b][t][h] = (sum_j exp(score[j] - m) * keys[j]) / sum
//       lse              = m + ln(sum)                  # natural log, sink included, no epsilon
//
//   list(lanes, limit, length): the first min(lane count, limit, length if given) lanes, up to the
//   first negative one. Later lanes are not looked at; an id that appears twice counts twice.
//
// [pub] masks, windows, threshold, lists, sink. [here] rows without a key, and query rows that no
// request owns (t >= sequsedQ[b], or past cuSeqlensQ[B]), are written: attnOut 0, lse 0. A sink of
// -inf is as no sink; +inf gives attnOut 0 and lse +inf, NaN makes both NaN, in rows that have a
// key. A NaN in an attended token reaches the rows that attend to it and no other.
//
// 2 Tensors --------------------------------------------------------------------------------------
//
// Optional means NULL or zero elements; both mean absent. What a mode has no use for is ignored,
// except cuSeqlensQ with layoutQ BSND (161002). Index, length and table tensors are INT32.
//
//   name              shape                                      when required
//   q                 BSND (B,S1,N1,512) | TND (T1,N1,512)       always; FLOAT16 or BFLOAT16
//   oriKv             BSND (B,S2,1,512) | TND (T2,1,512)
//                     | PA_BBND (P,page,1,512)                   always; dtype of q
//   cmpKv             the same with S3, T3, its own P, page      CSA, HCA, ORI_CMP_SPARSE
//   oriSparseIndices  BSND (B,S1,1,K1) | TND (T1,1,K1)           ORI_SPARSE, ORI_CMP_SPARSE
//   cmpSparseIndices  BSND (B,S1,1,K2) | TND (T1,1,K2)           CSA, ORI_CMP_SPARSE
//   oriBlockTable     (B,M)   page ids, first page first         layoutKv PA_BBND
//   cmpBlockTable     (B,M')  the same for cmpKv                 layoutKv PA_BBND with cmpKv
//   cuSeqlensQ        (B+1)   prefix sums, query rows            layoutQ TND
//   cuSeqlensOriKv    (B+1)   prefix sums, original tokens       layoutKv TND
//   cuSeqlensCmpKv    (B+1)   prefix sums, compressed tokens     layoutKv TND with cmpKv
//   sequsedQ          (B)     s1; rows start where they did      optional
//   sequsedOriKv      (B)     s2; tokens start where they did    PA_BBND, no oriSparseIndices
//   sequsedCmpKv      (B)     s3; the same                       optional
//   cmpResidualKv     (B)     original tokens behind the last
//                             compressed one                     cmpKv, cmpMaskMode 3, ratio != 1
//   oriTopkLength     BSND (B,S1,1) | TND (T1,1)  lanes in use   oriSparseIndices, oriMaskMode 0
//   cmpTopkLength     the same for cmpSparseIndices              cmpSparseIndices, cmpMaskMode 0
//   sinks             (N1) FLOAT, a logit without a value        always
//   metadata          (1024) of aclnnSparseFlashMlaMetadata      always
//   attnOut           shape and dtype of q                       always (output)
//   softmaxLseOut     BSND (B,1,S1,N1) | TND (1,T1,N1), FLOAT    returnSoftmaxLse (output)
//
// Lengths when the seqused tensor is absent: TND the difference of prefix sums; BSND S1, S2, S3;
// PA_BBND s2 = M * page (lists only), s3 = min(s2 / ratio, M' * page). Token j of request b in
// PA_BBND: page table[b][j / page], slot j % page. Page ids start at 0. page is 1..1024, the two
// caches independent. Only tokens that a row attends to are read, and only table entries that such
// tokens need: the rest may hold anything, NaN included. [here]
//
// s2 counts all original tokens of the request, this call's rows included; s3 and the residual are
// its quotient and remainder by ratio. 2 new rows after 298 cached tokens, ratio 128: s1 = 2, s2 =
// 300, s3 = 2, residual = 44. The rows of a request are consecutive; a caller that holds every
// n-th row passes each as a request of its own. Head width 512 has the rotary part inside (448 +
// 64).
//
// Strides, in elements: the caches may have any stride of at least 0 on axis 0, of at least 512 on
// the token axis of a rank-4 view, 1 on the innermost, and any view offset; overlapping views may
// be read. Other inputs may have any strides: they are copied in stream order into the workspace.
// Outputs must be contiguous and share no element with another tensor of the call, nor with the
// workspace; each phase compares the addresses it sees. [here] Data addresses are multiples of the
// element size, nothing more. No axis is longer than 2147483647, and all copies together take at
// most 2^47 bytes; offsets are 64 bits wide: a cache may exceed 2^31 elements. Format ND.
//
// 3 Attributes -----------------------------------------------------------------------------------
//
//   softmaxScale     finite; 0 and negative allowed; used as a float. Usually 1/sqrt(512)
//   cmpRatio         1..128, original tokens per compressed one; ignored without cmpKv
//   oriMaskMode      0 all, 3 causal, 4 window around the position
//   cmpMaskMode      0 all, 3 causal in units of the ratio; ignored without cmpKv
//   oriWinLeft       tokens before the position, >= -1, -1 = unlimited; used in oriMaskMode 4 only
//   oriWinRight      tokens after the position, likewise. 127 and 0: the newest 128 tokens
//   layoutQOptional  "BSND" or "TND"; NULL = "BSND"
//   layoutKvOptional "BSND", "TND" or "PA_BBND"; NULL = "BSND". Equal to layoutQ, or PA_BBND, which
//                    may also be called "PA_ND" or "PA_BSND" as in sister operators
//   topkValueMode    1 (lanes hold token ids)
//   returnSoftmaxLse false leaves softmaxLseOut untouched, whatever its shape, and allows NULL
//
// The usual defaults are 1.0, 1, 0, 0, -1, -1, "BSND", "BSND", 1, false [pub]; a C call names them
// all.
//
// 4 Modes and relations --------------------------------------------------------------------------
//
//   mode            cmpKv  oriSparseIndices  cmpSparseIndices  a row sees
//   SWA             no     no                no                lo..hi
//   CSA             yes    no                yes               lo..hi, a list of compressed tokens
//   HCA             yes    no                no                lo..hi, compressed up to threshold
//   ORI_SPARSE      no     yes               no                a list of original tokens
//   ORI_CMP_SPARSE  yes    yes               yes               two lists
//
// oriSparseIndices with cmpKv but no cmpSparseIndices: the list, and all compressed tokens [here].
// cmpSparseIndices without cmpKv: 161002. q, oriKv, cmpKv and attnOut have one dtype. Query heads,
// B, T1 and S1 agree in every tensor that carries them. An index list has at least one lane.
// A product's narrower rules apply as well when the process runs with SFMLA_RULES=ascend910b or
// ascend950; README.md has the table.
//
// metadata must come from a call with the same layouts, heads, masks, windows, mode, top-k widths,
// ratio and lengths; otherwise the stream reports 507018 and says what differs. It may be shared
// by any number of calls (all layers of a step).
//
// 5 Values in device memory ----------------------------------------------------------------------
//
// Phase one reads no device memory and waits for nothing, so these are found when the task runs,
// and reported by the next synchronize of the stream. Index lists cannot be wrong: list() in
// section 1 covers every value. A negative top-k length counts as 0 here [here]; the planner, which
// sees the same tensor, refuses it.
//   prefix sums        start at 0, do not decrease, end within the tensor
//   seqused            0 <= value <= tokens or rows the tensor has for that request
//   cmpResidualKv      0 <= value < ratio
//   block table        an entry that an attended token needs is in [0, P)
// After such an error the outputs of that call are unspecified; nothing outside the given tensors
// has been read or written, and the next call on the stream works.
//
// 6 Errors ---------------------------------------------------------------------------------------
//
//   161001  NULL q, oriKv, metadata, attnOut, workspaceSize or executor, NULL softmaxLseOut with
//           returnSoftmaxLse; phase two: NULL executor, or NULL workspace when one is needed
//   161002  any other refusal: presence, dtype, rank, an extent, a stride, an attribute, a layout
//           pair, data not inside a live allocation; phase two: workspace too small,
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
// Layout strings are copied. Tensor handles must live until phase two returns, device data and
// workspace until the stream has passed the task. An executor is used up by one successful phase
// two, or released with aclDestroyAclOpExecutor; aclSetAclOpExecutorRepeatable lifts that. Both
// calls may be made from any threads, one executor from one thread at a time. Calls on one stream
// run in order and may share a workspace. Outputs may be read after synchronize. A tensor with NULL
// data is accepted by phase one, to ask for the workspace size. q with no rows is legal, and
// nothing runs.
//
// To join results over disjoint sets of keys, pass sinks of -inf to all calls but one, then weigh
// each attnOut with exp(lse - max lse); leave out rows without a key, whose lse of 0 means no
// weight.
//
// 8 Numerics -------------------------------------------------------------------------------------
//
// Scores, softmax and sums are FLOAT; attnOut is rounded once, half to even. The bits of a row
// depend on that row's inputs only: not on the batch, its place in it, thread or core counts, or
// the schedule. See docs/numerics.md.

// Phase one: checks the call, writes the workspace size in bytes and an executor.
ACLNN_API aclnnStatus aclnnSparseFlashMlaGetWorkspaceSize(
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
    aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseFlashMla(void* workspace, uint64_t workspaceSize,
                                          aclOpExecutor* executor, aclrtStream stream);

// 9 Example (samples/c_two_phase.c is the whole program) -----------------------------------------
//
//   uint64_t bytes = 0;
//   aclOpExecutor* executor = NULL;
//   void* workspace = NULL;
//   aclnnSparseFlashMlaGetWorkspaceSize(q, ori_kv, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
//       NULL, NULL, NULL, NULL, NULL, NULL, sinks, metadata, 0.0441941738, 1, 4, 0, 127, 0,
//       "BSND", "BSND", 1, false, attn_out, NULL, &bytes, &executor);
//   if (bytes > 0) aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
//   aclnnSparseFlashMla(workspace, bytes, executor, stream);
//   aclrtSynchronizeStream(stream);

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_FLASH_MLA_H_
