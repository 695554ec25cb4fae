// SPDX-License-Identifier: Apache-2.0
// What op_host tells the planning kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_call.h"

namespace sfmla {

struct SparseFlashMlaMetadataTiling {
  AttentionRules rules;
  int64_t batch = 0;
  int64_t query_extent = 0;  // max_seqlen_q (BSND), else unknown
  int64_t ori_extent = 0;
  int64_t cmp_extent = 0;
  int64_t cube_cores = 0;
  int64_t vector_cores = 0;
  int64_t block_tokens = 0;
  // Element counts of the top-k length tensors; 0: not used.
  int64_t ori_topk_lengths = 0;
  int64_t cmp_topk_lengths = 0;
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(std::is_trivially_copyable_v<SparseFlashMlaMetadataTiling>);
static_assert(sizeof(SparseFlashMlaMetadataTiling) == sizeof(AttentionRules) + 9 * sizeof(int64_t));

// Operand slots, in the order of the C arguments.
namespace metadata_operand {
enum Slot : int {
  kCuSeqlensQ,
  kCuSeqlensOriKv,
  kCuSeqlensCmpKv,
  kSequsedQ,
  kSequsedOriKv,
  kSequsedCmpKv,
  kCmpResidualKv,
  kOriTopkLength,
  kCmpTopkLength,
  kMetadata,
  kCount
};
}  // namespace metadata_operand

}  // namespace sfmla
