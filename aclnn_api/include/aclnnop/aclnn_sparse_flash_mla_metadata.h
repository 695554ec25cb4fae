// SPDX-License-Identifier: Apache-2.0
// SparseFlashMlaMetadata: plans SparseFlashMla. It splits the attention of one step over the cores
// of the device and writes the plan into 1024 words, once per step and kind of layer; every layer
// of that kind then passes the words to aclnnSparseFlashMla.
//
// Contents: 1 what it computes, 2 tensors, 3 attributes, 4 what must agree with the main operator,
// 5 values in device memory, 6 errors, 7 ownership, threads, readiness, 8 example.
//
// Letters and the tags [pub], [here]: see aclnn_sparse_flash_mla.h.
#ifndef ACLNNOP_ACLNN_SPARSE_FLASH_MLA_METADATA_H_
#define ACLNNOP_ACLNN_SPARSE_FLASH_MLA_METADATA_H_

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
// All work is the sequence of (request, row tile, KV block) in that order, each with a cost. The
// cores take consecutive pieces of about equal cost:
//
//   work = [(b, tile, block) for b in [0, B)
//           for tile in row_tiles(b) for block in kv_blocks(b, tile)]
//   for core in [0, cores): record[core] = begin and end of the piece of this core in `work`
//
// Words 0..323 are 36 records of 9 (begin, end), words 324..899 72 records of 8 (merging rows
// whose KV is split) [pub]; words from 900 on identify the call [here]. docs/metadata_format.md
// has every word. All 1024 words are written each time, and the same call gives the same words.
// The plan decides who computes what, never a number: results do not depend on it.
//
// The number of cores is that of the device, or the limit set with aclrtSetDeviceResLimit, at
// phase one.
//
// 2 Tensors --------------------------------------------------------------------------------------
//
// All INT32. Optional means NULL or zero elements; both mean absent. Any strides. metaData shares
// no element with another tensor. No axis is longer than 2147483647 [here]. Letters: B requests, S1
// and T1 query rows per request and in total.
//
//   name             shape                          when it is required
//   cuSeqlensQ       (B+1)  prefix sums, rows       layoutQ TND
//   cuSeqlensOriKv   (B+1)  prefix sums, tokens     layoutKv TND with hasOriKv
//   cuSeqlensCmpKv   (B+1)  prefix sums, tokens     layoutKv TND with hasCmpKv
//   sequsedQ         (B)    rows in use             optional
//   sequsedOriKv     (B)    tokens in use           layoutKv PA_BBND with hasOriKv, oriTopk 0
//   sequsedCmpKv     (B)    tokens in use           optional
//   cmpResidualKv    (B)    tokens behind the last  hasCmpKv, cmpMaskMode 3, cmpRatio != 1
//                           compressed one
//   oriTopkLength    BSND (B,S1,1) | TND (T1,1)     oriTopk > 0 and oriMaskMode 0
//   cmpTopkLength    BSND (B,S1,1) | TND (T1,1)     cmpTopk > 0 and cmpMaskMode 0
//   metaData         (1024), contiguous (output)    always
//
// 3 Attributes -----------------------------------------------------------------------------------
//
//   numHeadsQ        1..128, query heads of this rank
//   numHeadsKv       1
//   headDim          512
//   batchSize        requests; 0 = take it from cuSeqlensQ or, with layoutQ BSND, from a seqused
//                    tensor. Required with BSND when there is none
//   maxSeqlenQ       rows: with layoutQ BSND the length (at most 2^26 in all requests), or the
//                    bound of sequsedQ; 0 = unknown
//   maxSeqlenOriKv   tokens: with layoutKv BSND the length, or the bound of sequsedOriKv
//   maxSeqlenCmpKv   tokens: with layoutKv BSND the length, or the bound of sequsedCmpKv
//   oriTopk          lanes of oriSparseIndices, 0 = no such list
//   cmpTopk          lanes of cmpSparseIndices, 0 = no such list (HCA when hasCmpKv)
//   cmpRatio         1..128 with hasCmpKv; otherwise ignored
//   oriMaskMode      0, 3, 4        cmpMaskMode 0, 3 (ignored without hasCmpKv)
//   oriWinLeft       >= -1          oriWinRight >= -1 (-1 = unlimited; used in oriMaskMode 4 only)
//   layoutQOptional  "BSND" or "TND". NULL is refused here, unlike in the main operator [pub]
//   layoutKvOptional "BSND", "TND" or "PA_BBND"; the pairs of the main operator
//   hasOriKv         taken as given; true for every mode of the main operator
//   hasCmpKv         taken as given: window-only (SWA) callers pass false
//
// With a BSND layout and no seqused tensor the maxSeqlen of that side is required. A product's
// narrower rules apply as well when the process runs with SFMLA_RULES=ascend910b or ascend950;
// README.md has the table.
//
// 4 What must agree with the main operator -------------------------------------------------------
//
// The words carry a digest of: layouts, heads, head width, batch size, mode, masks, windows,
// ratio, top-k widths, presence flags, and the values of the prefix sums, seqused and residual
// tensors that the mode uses. The main operator compares it with its own call and otherwise ends
// with 507018 and a sentence that names what differs. Free to vary: maxSeqlen*, core counts,
// softmaxScale, dtypes, page sizes, values of the top-k lengths; without hasCmpKv also cmpRatio
// and cmpMaskMode. [here]
//
// 5 Values in device memory ----------------------------------------------------------------------
//
// Checked when the task runs; a violation is reported by the next synchronize of the stream as
// 507018, naming tensor, position and value:
//   prefix sums      first 0, not decreasing
//   query rows       of all requests together: at most 67108864 (2^26); a larger sum is junk [here]
//   seqused          0 <= value <= maxSeqlen (BSND) or the difference of prefix sums (TND)
//   cmpResidualKv    0 <= value < cmpRatio, when it counts
//   top-k lengths    >= 0, when they count; with TND one for each query row in use
//
// 6 Errors ---------------------------------------------------------------------------------------
//
//   161002  anything phase one refuses, NULL metaData and NULL layouts included; phase two:
//           workspace too small, workspace or metaData in the memory of another operand, executor
//           already consumed or of another operator
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
ACLNN_API aclnnStatus aclnnSparseFlashMlaMetadataGetWorkspaceSize(
    const aclTensor* cuSeqlensQOptional, const aclTensor* cuSeqlensOriKvOptional,
    const aclTensor* cuSeqlensCmpKvOptional, const aclTensor* sequsedQOptional,
    const aclTensor* sequsedOriKvOptional, const aclTensor* sequsedCmpKvOptional,
    const aclTensor* cmpResidualKvOptional, const aclTensor* oriTopkLengthOptional,
    const aclTensor* cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim,
    int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv,
    int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode,
    int64_t oriWinLeft, int64_t oriWinRight, const char* layoutQOptional,
    const char* layoutKvOptional, bool hasOriKv, bool hasCmpKv, const aclTensor* metaData,
    uint64_t* workspaceSize, aclOpExecutor** executor);

// Phase two: queues the task on `stream` (NULL: the default stream of the context) and returns.
// `workspace` is device memory of at least the size phase one reported.
ACLNN_API aclnnStatus aclnnSparseFlashMlaMetadata(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

// 8 Example (samples/cpp_decode_loop.cpp is the whole program) -----------------------------------
//
//   aclnnSparseFlashMlaMetadataGetWorkspaceSize(cu_seqlens_q, NULL, NULL, NULL, seqused_ori_kv,
//       NULL, NULL, NULL, NULL, 64, 1, 512, 0, 0, 0, 0, 0, 0, 1, 4, 0, 127, 0, "TND", "PA_BBND",
//       true, false, metadata, &bytes, &executor);
//   aclnnSparseFlashMlaMetadata(workspace, bytes, executor, stream);
//   for (layer = 0; layer < layers; ++layer) RunLayer(layer, metadata);  // aclnnSparseFlashMla

#ifdef __cplusplus
}
#endif

#endif  // ACLNNOP_ACLNN_SPARSE_FLASH_MLA_METADATA_H_
