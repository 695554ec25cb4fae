// SPDX-License-Identifier: Apache-2.0
// A strided view for tests, without memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace sfmla::test {

inline TensorDesc View(std::vector<int64_t> dims, std::vector<int64_t> strides, int64_t offset) {
  TensorDesc desc;
  desc.rank = static_cast<int64_t>(dims.size());
  std::copy(dims.begin(), dims.end(), desc.dims.begin());
  std::copy(strides.begin(), strides.end(), desc.strides.begin());
  desc.offset = offset;
  desc.dtype = ACL_INT32;
  return desc;
}

}  // namespace sfmla::test
