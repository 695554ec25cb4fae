// SPDX-License-Identifier: Apache-2.0
// What op_host tells the kernel of SparseAttnSharedkv.
#pragma once

#include "op_kernel/common/attention_tiling.h"

namespace sfmla {

using SparseAttnSharedkvTiling = AttentionTiling;

// Operand slots, in the order of the C arguments.
namespace sharedkv_operand {
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
  kSequsedKv,
  kSinks,
  kMetadata,
  kAttnOut,
  kSoftmaxLse,
  kCount
};
}  // namespace sharedkv_operand

}  // namespace sfmla
