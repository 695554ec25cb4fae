// SPDX-License-Identifier: Apache-2.0
// The memory that a strided view covers, and gathering it into one without gaps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "runtime/tensor.h"

namespace sfmla {

// Bytes from `tensor.data` at which the elements of a view begin and end.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;  // begin == end: no elements
};

// 507015 if the range does not fit into 64 bits or the type has no whole bytes.
Result<ByteRange> CoveredBytes(const TensorDesc& desc);

// Copies the elements in row-major order to `out`. Both ranges are valid; rank <= kMaxOperandRank.
void GatherContiguous(const TensorDesc& desc, std::byte* out);

}  // namespace sfmla
