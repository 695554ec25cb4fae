// SPDX-License-Identifier: Apache-2.0
// What op_host tells the kernels of SparseFlashMla.
#pragma once

#include "op_kernel/common/attention_tiling.h"

namespace sfmla {

using SparseFlashMlaTiling = AttentionTiling;

// Which variant of the Ascend C kernel runs.
inline constexpr uint64_t kFloat16TilingKey = 0;
inline constexpr uint64_t kBfloat16TilingKey = 1;

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
