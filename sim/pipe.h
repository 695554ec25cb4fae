// SPDX-License-Identifier: Apache-2.0
// The pipes of an AI core as the emulator counts them.
#pragma once

#include <cstdint>

namespace sfmla::sim {

// kCache is not a pipe: it stands for write-backs of the scalar data cache, which are complete only
// after DataSyncBarrier.
enum class Pipe : uint8_t { kS, kV, kM, kMte1, kMte2, kMte3, kFix, kCache };
inline constexpr int kPipes = 7;       // pipes proper, without kCache
inline constexpr int kComponents = 8;  // what has a clock of its own

// "S", "V", "MTE1", ...
constexpr const char* PipeName(Pipe pipe) {
  constexpr const char* kNames[kComponents] = {"S",    "V",    "M",   "MTE1",
                                               "MTE2", "MTE3", "FIX", "D-cache"};
  return kNames[static_cast<int>(pipe)];
}

}  // namespace sfmla::sim
