// SPDX-License-Identifier: Apache-2.0
// What the operands of SparseFlashMla are called, by smla_operand::Slot.
#pragma once

#include <cstddef>
#include <iterator>

#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

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

}  // namespace sfmla
