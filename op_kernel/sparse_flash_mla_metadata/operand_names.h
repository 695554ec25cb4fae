// SPDX-License-Identifier: Apache-2.0
// What the operands of SparseFlashMlaMetadata are called, by metadata_operand::Slot.
#pragma once

#include <iterator>

#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla {

inline constexpr const char* kSparseFlashMlaMetadataOperandNames[] = {
    "cu_seqlens_q",   "cu_seqlens_ori_kv", "cu_seqlens_cmp_kv", "seqused_q",       "seqused_ori_kv",
    "seqused_cmp_kv", "cmp_residual_kv",   "ori_topk_length",   "cmp_topk_length", "metadata"};
static_assert(std::size(kSparseFlashMlaMetadataOperandNames) == metadata_operand::kCount);

}  // namespace sfmla
