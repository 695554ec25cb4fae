// SPDX-License-Identifier: Apache-2.0
// Operands and attributes of the operator type SparseFlashMla, as its definition, its tiling and
// its launch all see them. Operands have the order of the C arguments, see smla_operand::Slot.
#pragma once

#include <cstddef>

#include "op_kernel/sparse_flash_mla/operand_names.h"

namespace sfmla::cann {

inline constexpr size_t kSparseFlashMlaInputs = smla_operand::kAttnOut;

// Attributes in the order of their definition. The last four say where the tokens of the caches
// lie, in elements, because tiling contexts have no strides yet; 0: contiguous.
enum class SparseFlashMlaAttribute : size_t {
  kSoftmaxScale,
  kCmpRatio,
  kOriMaskMode,
  kCmpMaskMode,
  kOriWinLeft,
  kOriWinRight,
  kLayoutQ,
  kLayoutKv,
  kTopkValueMode,
  kReturnSoftmaxLse,
  kOriOuterStride,
  kOriTokenStride,
  kCmpOuterStride,
  kCmpTokenStride,
};

}  // namespace sfmla::cann
