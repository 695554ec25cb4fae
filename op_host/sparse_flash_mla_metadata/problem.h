// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashMlaMetadata as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/launch_builder.h"
#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla {

struct SparseFlashMlaMetadataProblem {
  AttentionRules rules;
  int64_t batch = 0;
  // Extents stand in for lengths no tensor gives, and bound those a tensor gives.
  int64_t query_extent = 0;
  int64_t ori_extent = 0;
  int64_t cmp_extent = 0;
  std::array<OperandUse, metadata_operand::kCount> uses;
};

}  // namespace sfmla
