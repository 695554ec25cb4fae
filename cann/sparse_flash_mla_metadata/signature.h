// SPDX-License-Identifier: Apache-2.0
// Operands of SparseFlashMlaMetadata, in the order of metadata_operand::Slot. The last one is the
// output.
#pragma once

#include <cstddef>

#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla::cann {

inline constexpr size_t kMetadataInputs = metadata_operand::kMetadata;

}  // namespace sfmla::cann
