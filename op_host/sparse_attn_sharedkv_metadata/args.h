// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkvMetadata as given, without what it has no use for.
#pragma once

#include <array>

#include "op_host/common/operand.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvMetadataArgs : PlannerArgs {
  std::array<OperandArg, sharedkv_metadata_operand::kCount> operands;
  int64_t max_seqlen_kv = 0;
};

}  // namespace sfmla
