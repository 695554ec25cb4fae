// SPDX-License-Identifier: Apache-2.0
// The planning kernel as the AI CPU calls it: that of the CPU device, under another name.
#pragma once

#include "cann/bridge/operand_view.h"
#include "cann/bridge/tiling_words.h"

namespace sfmla::cann {

// Addresses by metadata_operand::Slot, nullptr where the call has no tensor or does not use it.
using PlannerOperands = std::array<void*, metadata_operand::kCount>;

// Writes the 1024 words; all zero, and the sentence about the value, if a length is wrong.
Refusal WriteMetadata(const TilingWords& tiling, const PlannerOperands& operands);

}  // namespace sfmla::cann
