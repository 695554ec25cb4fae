// SPDX-License-Identifier: Apache-2.0
// The 16-bit floating point types of kernels: storage, and conversion by round-to-nearest-even.
#pragma once

#include <bit>
#include <cstdint>

namespace sfmla::sim {

float HalfBitsToFloat(uint16_t bits);
uint16_t FloatToHalfBits(float value);

inline float Bfloat16BitsToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t FloatToBfloat16Bits(float value);

}  // namespace sfmla::sim

// Scalar arithmetic happens in float.
struct half {
  half() = default;
  half(float value) : bits(sfmla::sim::FloatToHalfBits(value)) {}  // NOLINT
  operator float() const { return sfmla::sim::HalfBitsToFloat(bits); }
  static half FromBits(uint16_t bits) {
    half result;
    result.bits = bits;
    return result;
  }
  uint16_t bits;
};

struct bfloat16_t {
  bfloat16_t() = default;
  bfloat16_t(float value) : bits(sfmla::sim::FloatToBfloat16Bits(value)) {}  // NOLINT
  operator float() const { return sfmla::sim::Bfloat16BitsToFloat(bits); }
  static bfloat16_t FromBits(uint16_t bits) {
    bfloat16_t result;
    result.bits = bits;
    return result;
  }
  uint16_t bits;
};
