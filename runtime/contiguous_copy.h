// SPDX-License-Identifier: Apache-2.0
// Gathering a strided view into memory without gaps.
#pragma once

#include <cstddef>

#include "runtime/tensor.h"

namespace sfmla {

// Copies the elements in row-major order to `out`. Both ranges are valid; rank <= kMaxOperandRank.
void GatherContiguous(const TensorDesc& desc, std::byte* out);

}  // namespace sfmla
