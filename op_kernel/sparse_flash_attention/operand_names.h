// SPDX-License-Identifier: Apache-2.0
// What the operands of SparseFlashAttention are called, by sparse_flash_operand::Slot.
#pragma once

#include <iterator>

#include "op_kernel/sparse_flash_attention/tiling_data.h"

namespace sfmla {

inline constexpr const char* kSparseFlashAttentionOperandNames[] = {"query",
                                                                    "key",
                                                                    "value",
                                                                    "sparse_indices",
                                                                    "block_table",
                                                                    "actual_seq_lengths_query",
                                                                    "actual_seq_lengths_kv",
                                                                    "query_rope",
                                                                    "key_rope",
                                                                    "sinks",
                                                                    "attention_out",
                                                                    "softmax_max",
                                                                    "softmax_sum"};
static_assert(std::size(kSparseFlashAttentionOperandNames) == sparse_flash_operand::kCount);

}  // namespace sfmla
