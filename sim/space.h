// SPDX-License-Identifier: Apache-2.0
// The memories of one AI core, and global memory.
#pragma once

#include <cstdint>

namespace sfmla::sim {

enum class Space : uint8_t { kGm, kUb, kL1, kL0A, kL0B, kL0C, kBias, kFixpipe };
inline constexpr int kSpaces = 8;

// "GM", "UB", "L1", ...
constexpr const char* SpaceName(Space space) {
  constexpr const char* kNames[kSpaces] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
  return kNames[static_cast<int>(space)];
}

}  // namespace sfmla::sim
