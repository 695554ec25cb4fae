// SPDX-License-Identifier: Apache-2.0
// Operands of SparseFlashMlaMetadata, in the order of metadata_operand::Slot. The last one is the
// output.
#pragma once

#include <cstddef>
#include <iterator>

#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla::cann {

inline constexpr const char* kMetadataOperandNames[] = {
    "cu_seqlens_q",   "cu_seqlens_ori_kv", "cu_seqlens_cmp_kv", "seqused_q",       "seqused_ori_kv",
    "seqused_cmp_kv", "cmp_residual_kv",   "ori_topk_length",   "cmp_topk_length", "metadata"};
static_assert(std::size(kMetadataOperandNames) == metadata_operand::kCount);

inline constexpr size_t kMetadataInputs = metadata_operand::kMetadata;

}  // namespace sfmla::cann
