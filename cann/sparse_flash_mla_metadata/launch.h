// SPDX-License-Identifier: Apache-2.0
// The planner as one AI CPU task of an executor.
#pragma once

#include <array>

#include "aclnn/opdev/op_executor.h"
#include "cann/bridge/tiling_words.h"

namespace l0op {

// `operands` by metadata_operand::Slot, nullptr for inputs that the call does not use. Returns an
// aclnn status.
aclnnStatus SparseFlashMlaMetadata(
    const std::array<const aclTensor*, sfmla::metadata_operand::kCount>& operands,
    const sfmla::cann::TilingWords& tiling, aclOpExecutor* executor);

}  // namespace l0op
