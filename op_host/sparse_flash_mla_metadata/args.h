// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashMlaMetadata as given.
#pragma once

#include <array>

#include "op_host/common/operand.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla {

struct SparseFlashMlaMetadataArgs : PlannerArgs {
  std::array<OperandArg, metadata_operand::kCount> operands;
  int64_t max_seqlen_ori_kv = 0;
  int64_t max_seqlen_cmp_kv = 0;
  int64_t ori_topk = 0;
  bool has_ori_kv = true;

  const OperandArg& at(metadata_operand::Slot slot) const {
    return operands[static_cast<size_t>(slot)];
  }
};

}  // namespace sfmla
