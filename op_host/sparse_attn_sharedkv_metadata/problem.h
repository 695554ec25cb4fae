// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkvMetadata as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/launch_builder.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvMetadataProblem : PlannerProblem {
  std::array<OperandUse, sharedkv_metadata_operand::kCount> uses;
};

}  // namespace sfmla
