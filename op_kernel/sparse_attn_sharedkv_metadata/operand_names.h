// SPDX-License-Identifier: Apache-2.0
// What the operands of SparseAttnSharedkvMetadata are called, by sharedkv_metadata_operand::Slot.
#pragma once

#include <iterator>

#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {

inline constexpr const char* kSparseAttnSharedkvMetadataOperandNames[] = {
    "cu_seqlens_q", "cu_seqlens_ori_kv", "cu_seqlens_cmp_kv",
    "seqused_q",    "seqused_kv",        "metadata"};
static_assert(std::size(kSparseAttnSharedkvMetadataOperandNames) ==
              sharedkv_metadata_operand::kCount);

}  // namespace sfmla
