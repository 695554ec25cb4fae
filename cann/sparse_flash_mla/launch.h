// SPDX-License-Identifier: Apache-2.0
// The operator as one task of an executor.
#pragma once

#include <array>

#include "aclnn/opdev/op_executor.h"
#include "cann/bridge/sparse_flash_mla.h"

namespace l0op {

// `operands` by smla_operand::Slot, nullptr for inputs that the call does not use; both outputs are
// there. `call` is what they were made for. Returns an aclnn status.
aclnnStatus SparseFlashMla(
    const std::array<const aclTensor*, sfmla::smla_operand::kCount>& operands,
    const sfmla::cann::SparseFlashMlaCall& call, aclOpExecutor* executor);

}  // namespace l0op
