// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkvMetadata as understood: everything in it has been checked.
#pragma once

#include <array>

#include "op_host/common/launch_builder.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvMetadataProblem {
  AttentionRules rules;
  int64_t batch = 0;
  int64_t query_extent = 0;  // lengths where no tensor says more
  int64_t ori_extent = 0;
  std::array<OperandUse, sharedkv_metadata_operand::kCount> uses;
};

}  // namespace sfmla
