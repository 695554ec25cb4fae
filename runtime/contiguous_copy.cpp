// SPDX-License-Identifier: Apache-2.0
#include "runtime/contiguous_copy.h"

#include <cstring>

namespace sfmla {
namespace {

// Copies the axes from `axis` on and returns the place behind them. `in` is element 0 of this part.
std::byte* GatherAxis(const TensorDesc& desc, int64_t axis, int64_t element_bytes,
                      const std::byte* in, std::byte* out) {
  if (axis == desc.rank) {
    std::memcpy(out, in, static_cast<size_t>(element_bytes));
    return out + element_bytes;
  }
  const int64_t extent = desc.dims[static_cast<size_t>(axis)];
  const int64_t stride = desc.strides[static_cast<size_t>(axis)];
  if (axis + 1 == desc.rank && stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(extent * element_bytes));
    return out + extent * element_bytes;
  }
  for (int64_t i = 0; i < extent; ++i) {
    out = GatherAxis(desc, axis + 1, element_bytes, in + i * stride * element_bytes, out);
  }
  return out;
}

}  // namespace

void GatherContiguous(const TensorDesc& desc, std::byte* out) {
  if (desc.num_elements() == 0) return;
  const int64_t element_bytes = DataTypeBytes(desc.dtype);
  const auto* first = static_cast<const std::byte*>(desc.data) + desc.offset * element_bytes;
  GatherAxis(desc, 0, element_bytes, first, out);
}

}  // namespace sfmla
