// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashMla as given.
#pragma once

#include <array>

#include "op_host/common/operand.h"
#include "op_host/common/shared_kv_checks.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

struct SparseFlashMlaArgs : SharedKvArgs {
  std::array<OperandArg, smla_operand::kCount> operands;
  int64_t topk_value_mode = 1;

  const OperandArg& at(smla_operand::Slot slot) const {
    return operands[static_cast<size_t>(slot)];
  }
};

}  // namespace sfmla
