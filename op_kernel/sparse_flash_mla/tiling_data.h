// SPDX-License-Identifier: Apache-2.0
// What op_host tells the kernels of SparseFlashMla. Chip-free, fixed widths, offsets in elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/sparse_flash_mla/workspace_layout.h"

namespace sfmla {

// Where the tokens of one cache lie. Token j of request b starts at
//   packed   (first_token(b) + j) * token_stride
//   batched  b * outer_stride + j * token_stride
//   paged    page * outer_stride + (j % page_tokens) * token_stride, page = table[b][j /
//   page_tokens]
struct CacheGeometry {
  int64_t outer_extent = 0;  // pages (paged) or requests (batched)
  int64_t outer_stride = 0;
  int64_t token_stride = 0;
  int64_t page_tokens = 0;    // rows of a page
  int64_t table_columns = 0;  // pages a request's table row can name
  int64_t tokens = 0;  // tokens a request has room for: S (batched), T (packed), table (paged)
};

struct SparseFlashMlaTiling {
  AttentionRules rules;
  int32_t is_bfloat16 = 0;  // flag: 0 or 1, then float16
  float softmax_scale = 1.0f;
  int64_t batch = 0;
  int64_t query_extent = 0;  // S1 (BSND) or T1 (TND)
  int64_t query_rows = 0;    // rows of q: B x S1 or T1
  CacheGeometry ori;
  CacheGeometry cmp;
  int32_t return_softmax_lse = 0;  // flag: 0 or 1
  int32_t block_tokens = 0;        // planning unit along KV, as the metadata operator used
  SparseFlashMlaWorkspace workspace;
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(std::is_trivially_copyable_v<SparseFlashMlaTiling>);
static_assert(sizeof(SparseFlashMlaTiling) == sizeof(AttentionRules) + 4 * sizeof(int32_t) +
                                                  3 * sizeof(int64_t) + 2 * sizeof(CacheGeometry) +
                                                  sizeof(SparseFlashMlaWorkspace));

// Operand slots, in the order of the C arguments.
namespace smla_operand {
enum Slot : int {
  kQ,
  kOriKv,
  kCmpKv,
  kOriSparseIndices,
  kCmpSparseIndices,
  kOriBlockTable,
  kCmpBlockTable,
  kCuSeqlensQ,
  kCuSeqlensOriKv,
  kCuSeqlensCmpKv,
  kSequsedQ,
  kSequsedOriKv,
  kSequsedCmpKv,
  kCmpResidualKv,
  kOriTopkLength,
  kCmpTopkLength,
  kSinks,
  kMetadata,
  kAttnOut,
  kSoftmaxLse,
  kCount
};
}  // namespace smla_operand

}  // namespace sfmla
