// SPDX-License-Identifier: Apache-2.0
// What the operands of SparseAttnSharedkv are called, by sharedkv_operand::Slot.
#pragma once

#include <iterator>

#include "op_kernel/sparse_attn_sharedkv/tiling_data.h"

namespace sfmla {

inline constexpr const char* kSparseAttnSharedkvOperandNames[] = {"q",
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
                                                                  "seqused_kv",
                                                                  "sinks",
                                                                  "metadata",
                                                                  "attn_out",
                                                                  "softmax_lse"};
static_assert(std::size(kSparseAttnSharedkvOperandNames) == sharedkv_operand::kCount);

}  // namespace sfmla
