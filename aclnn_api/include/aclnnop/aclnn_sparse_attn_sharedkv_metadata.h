// SPDX-License-Identifier: Apache-2.0
// SparseAttnSharedkvMetadata: plans SparseAttnSharedkv. It splits the attention of one step over
// the cores of the device and writes the plan into 1024 words, once per step and kind of layer;
// every layer of that kind then passes the words to aclnnSparseAttnSharedkv.
//
// Contents: 1 what it computes, 2 tensors, 3 attributes, 4 what must agree with the main operator,
// 5 values in device memory, 6 errors, 7 ownership, threads, readiness, 8 example.
//
// Letters and the tags [pub], [here]: see aclnn_sparse_flash_mla.h.
#ifndef ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_METADATA_H_
#define ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_METADATA_H_

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
// Words 0..287 are 36 records of 8, a core's begin and end in the work (request, row block); words
// 288..863 are 72 records of 8 for rows whose KV is split, which this operator never does: 0. The
// records are those of the published operator for the same input and core count [pub]; words from
// 864 on identify the call, and are unused there [here]. docs/metadata_format.md has every word.
// All 1024 words are written each time, and the same call gives the same words. The plan decides
// who computes what, never a number.
//
// The number of cores is that of the device, or the limit set with aclrtSetDeviceResLimit, at
// phase one.
//
// 2 Tensors --------------------------------------------------------------------------------------
//
// All INT32. Optional means NULL or zero elements; both mean absent. Any strides. metadata shares
// no element with another tensor. No axis is longer than 2147483647 [here].
//
//   name             shape                           when it is required
//   cuSeqLensQ       (B+1)  prefix sums, rows        layoutQ TND
//   cuSeqLensOriKv   (B+1)  prefix sums, tokens      layoutKv TND
//   cuSeqLensCmpKv   (B+1)  prefix sums, rows        layoutKv TND with hasCmpKv
//   sequsedQ         (B)    rows in use              optional
//   sequsedKv        (B)    original tokens in use   layoutKv PA_ND
//   metadata         (1024), contiguous (output)     always
//
// B comes from sequsedQ, else from cuSeqLensQ (TND), else from batchSize. On the side of the caches
// it comes from sequsedKv, else from cuSeqLensOriKv (TND), else from batchSize, and must be the
// same. [pub]
//
// 3 Attributes -----------------------------------------------------------------------------------
//
//   numHeadsQ        1..128, query heads of this rank
//   numHeadsKv       1
//   headDim          512
//   batchSize        0..67108864 (2^26); looked at where no tensor tells B
//   maxSeqlenQ       >= 0; the rows of each request where no tensor gives them, and then at most
//                    2^26 in all requests together
//   maxSeqlenKv      the original tokens of each request where no tensor gives them; then >= 0
//   oriTopK          ignored
//   cmpTopK          lanes of cmpSparseIndices, 0 = no such list (CFA); ignored without hasCmpKv
//   cmpRatio         1..128 with hasCmpKv; otherwise ignored
//   oriMaskMode      0, 3, 4; the main operator takes 4 only
//   cmpMaskMode      ignored: it is 3
//   oriWinLeft       >= 0
//   oriWinRight      >= 0
//   layoutQOptional  "BSND" or "TND"; NULL = "BSND"
//   layoutKvOptional "PA_ND", "BSND" or "TND"; NULL = "PA_ND"
//   hasOriKv         ignored: there always is an original cache
//   hasCmpKv         taken as given: window-only (SWA) callers pass false
//
// A product's narrower rules apply as well when the process runs with SFMLA_RULES=ascend910b;
// ascend950 does not have this operator. README.md has the table.
//
// 4 What must agree with the main operator -------------------------------------------------------
//
// The words carry a digest of: layouts, heads, batch size, mode, masks, windows, ratio, top-k width
// and the values of the prefix sums and seqused tensors that the mode uses. The main operator
// compares it with its own call and otherwise ends with 507018 and a sentence that names what
// differs. Free to vary: maxSeqlen*, core counts, softmaxScale, dtypes, page sizes; without
// hasCmpKv also cmpRatio and cmpTopK. [here]
//
// 5 Values in device memory ----------------------------------------------------------------------
//
// Checked when the task runs; a violation is reported by the next synchronize of the stream as
// 507018, naming tensor, position and value, and all words are then 0:
//   prefix sums      first 0, not decreasing
//   query rows       of all requests together: at most 67108864 (2^26); a larger sum is junk [here]
//   seqused          0 <= value, with TND also <= the difference of prefix sums
//
// 6 Errors ---------------------------------------------------------------------------------------
//
//   161002  anything phase one refuses, NULL metadata and NULL tensors of section 2 included;
//           phase two: workspace too small, workspace or metadata in the memory of another operand,
//           executor already consumed or of another operator
//   561103  phase one: NULL workspaceSize or executor
//   161001  phase two: NULL executor, or NULL workspace when one is needed
//   361001  no host memory left; phase two: no context on this thread, or a stream of another one
//   100000  phase one: an environment variable SFMLA_... holds what it must not
//   561003  the device has no kernel of this operator    561000  a failure inside the library
//   507018  from synchronize: a value of section 5
// aclGetRecentErrMsg() then holds one sentence: operand, what was found, what is allowed. After a
// refusal *workspaceSize is 0 and *executor is NULL.
//
// 7 Ownership, threads, readiness ----------------------------------------------------------------
//
// As for the main operator. No host wait: lengths that earlier tasks of the stream write are seen.
// Metadata and the main operators that use it may be queued back to back on one stream; on
// different streams an event must order them. The workspace is 0 bytes unless an input is not
// contiguous.

// Phase one: checks the call, writes the workspace size in bytes and an executor.
ACLNN_API aclnnStatus aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
    const aclTensor* cuSeqLensQOptional, const aclTensor* cuSeqLensOriKvOptional,
    const aclTensor* cuSeqLensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedKvOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim,
    int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t oriTopK, int64_t cmpTopK,
    int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft,
    int64_t oriWinRight, char* layoutQOptional, char* layoutKvOptional, bool hasOriKv,
    bool hasCmpKv, const aclTensor* metadata, uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseAttnSharedkvMetadata(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream);

// 8 Example: one plan for all window-only layers of a step ----------------------------------------
//
//   aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(cu_seqlens_q, NULL, NULL, NULL, seqused_kv, 64,
//       1, 512, 0, 0, 0, 0, 0, 1, 4, 3, 127, 0, "TND", "PA_ND", true, false, metadata, &bytes,
//       &executor);
//   aclnnSparseAttnSharedkvMetadata(workspace, bytes, executor, stream);
//   for (layer = 0; layer < layers; ++layer) RunLayer(layer, metadata);  // aclnnSparseAttnSharedkv

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_ATTN_SHAREDKV_METADATA_H_
