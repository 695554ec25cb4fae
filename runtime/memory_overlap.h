// SPDX-License-Identifier: Apache-2.0
// Whether the memory of two operands meets.
#pragma once

#include <string>

#include "runtime/tensor.h"

namespace sfmla {

// Whether an element of `view` lies in the memory of `contiguous`, a view without gaps. Gaps of
// `view` do not count, unless its axes run into each other. False while an address is NULL, or one
// where no memory can be. Both views have bytes (CoveredBytes).
bool SharesMemory(const TensorDesc& contiguous, const TensorDesc& view);

// The refusal of an operand that is written and shares memory with another one.
std::string SharedMemoryText(const char* written, const char* other);

}  // namespace sfmla
