// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashMlaMetadata as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/launch_builder.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla {

struct SparseFlashMlaMetadataProblem : PlannerProblem {
  int64_t cmp_extent = 0;
  std::array<OperandUse, metadata_operand::kCount> uses;
};

}  // namespace sfmla
