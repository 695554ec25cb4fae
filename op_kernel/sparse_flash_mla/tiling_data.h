// SPDX-License-Identifier: Apache-2.0
// What op_host tells the kernels of SparseFlashMla. Chip-free, fixed widths, offsets in elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/sparse_flash_mla/workspace_layout.h"

namespace sfmla {

// Where the rows of one cache lie. Row j of request b starts at
//   packed   (first_row(b) + j) * row_stride
//   batched  b * outer_stride + j * row_stride
//   paged    page * outer_stride + (j % block_rows) * row_stride,  page = table[b][j / block_rows]
struct CacheGeometry {
  int64_t outer_extent = 0;  // pages (paged) or requests (batched)
  int64_t outer_stride = 0;
  int64_t row_stride = 0;
  int64_t block_rows = 0;     // rows of a page
  int64_t table_columns = 0;  // pages a request's table row can name
  int64_t rows = 0;           // rows a request has room for: S (batched), T (packed), table (paged)
};

struct SparseFlashMlaTiling {
  AttentionRules rules;
  int32_t is_bfloat16 = 0;
  float softmax_scale = 1.0f;
  int64_t batch = 0;
  int64_t query_extent = 0;  // S1 (BSND) or T1 (TND)
  int64_t query_rows = 0;    // rows of q: B x S1 or T1
  CacheGeometry ori;
  CacheGeometry cmp;
  int32_t return_softmax_lse = 0;
  int32_t block_tokens = 0;  // planning unit along KV, as the metadata operator used
  SparseFlashMlaWorkspace workspace;
};

static_assert(std::is_trivially_copyable_v<SparseFlashMlaTiling>);

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
