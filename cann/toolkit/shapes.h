// SPDX-License-Identifier: Apache-2.0
// gert::Shape and lists of extents.
#pragma once

#include <cstdint>
#include <vector>

#include "exe_graph/runtime/shape.h"

namespace sfmla::cann {

inline std::vector<int64_t> DimsOf(const gert::Shape& shape) {
  std::vector<int64_t> out;
  for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) out.push_back(shape.GetDim(axis));
  return out;
}

inline void SetDims(const std::vector<int64_t>& dims, gert::Shape* shape) {
  shape->SetDimNum(dims.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) shape->SetDim(axis, dims[axis]);
}

}  // namespace sfmla::cann
