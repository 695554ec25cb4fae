// SPDX-License-Identifier: Apache-2.0
// Whether the memory of two operands meets.
#pragma once

#include "runtime/tensor.h"

namespace sfmla {

// Whether an element of `view` lies in the memory of `contiguous`, a view without gaps. Gaps of
// `view` do not count, unless its axes run into each other. False while an address is NULL. Both
// views have passed CheckData.
bool SharesMemory(const TensorDesc& contiguous, const TensorDesc& view);

}  // namespace sfmla
