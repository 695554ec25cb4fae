// SPDX-License-Identifier: Apache-2.0
// Operands and attributes of the operator type SparseFlashMla, as its definition, its tiling and
// its launch all see them. Operands have the order of the C arguments, see smla_operand::Slot.
#pragma once

#include <cstddef>
#include <iterator>

#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla::cann {

inline constexpr const char* kSparseFlashMlaOperandNames[] = {"q",
                                                              "ori_kv",
                                                              "cmp_kv",
                                                              "ori_sparse_indices",
                                                              "cmp_sparse_indices",
                                                              "ori_block_table",
                                                              "cmp_block_table",
                                                              "cu_seqlens_q",
                                                              "cu_seqlens_ori_kv",
                                                              "cu_seqlens_cmp_kv",
                                                              "seqused_q",
                                                              "seqused_ori_kv",
                                                              "seqused_cmp_kv",
                                                              "cmp_residual_kv",
                                                              "ori_topk_length",
                                                              "cmp_topk_length",
                                                              "sinks",
                                                              "metadata",
                                                              "attn_out",
                                                              "softmax_lse"};
static_assert(std::size(kSparseFlashMlaOperandNames) == smla_operand::kCount);

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
