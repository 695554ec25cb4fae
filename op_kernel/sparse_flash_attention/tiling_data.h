// SPDX-License-Identifier: Apache-2.0
// What op_host tells the kernel of SparseFlashAttention.
#pragma once

#include "op_kernel/common/attention_tiling.h"

namespace sfmla {

using SparseFlashAttentionTiling = AttentionTiling;

// Operand slots, in the order of the C arguments of V2.
namespace sparse_flash_operand {
enum Slot : int {
  kQuery,
  kKey,
  kValue,
  kSparseIndices,
  kBlockTable,
  kActualSeqLengthsQuery,
  kActualSeqLengthsKv,
  kQueryRope,
  kKeyRope,
  kSinks,
  kAttentionOut,
  kSoftmaxMax,
  kSoftmaxSum,
  kCount
};
}  // namespace sparse_flash_operand

}  // namespace sfmla
