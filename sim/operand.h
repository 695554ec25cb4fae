// SPDX-License-Identifier: Apache-2.0
// A tensor argument as intrinsics see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/space.h"

namespace sfmla::sim {

struct Operand {
  Space space = Space::kUb;
  uint64_t begin = 0;         // byte offset in the space; for GM the host address
  uint64_t bytes = 0;         // to the end of the tensor; UINT64_MAX where the kernel gave no size
  std::byte* host = nullptr;  // where the bytes are; nullptr when begin is outside of the space
};

}  // namespace sfmla::sim
