// SPDX-License-Identifier: Apache-2.0
// The same numbers from the same seed, on every platform.
#pragma once

#include <cstdint>

namespace sfmla::sim {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  // 0 .. bound - 1.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool OneIn(uint64_t count) { return Below(count) == 0; }

 private:
  uint64_t state_;
};

}  // namespace sfmla::sim
