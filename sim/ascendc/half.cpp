// SPDX-License-Identifier: Apache-2.0
#include "sim/ascendc/half.h"

#include <cmath>

namespace sfmla::sim {

float HalfBitsToFloat(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 0xFF : static_cast<uint32_t>(exponent - 15 + 127);
  return std::bit_cast<float>(sign | wide << 23 | static_cast<uint32_t>(mantissa) << 13);
}

uint16_t FloatToHalfBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  // From 65520 up the nearest half is infinity.
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) {  // below the smallest normal half: units of 2^-24
    const float units = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(units)));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  const uint32_t rounded = (magnitude + 0xFFF + odd) >> 13;
  return static_cast<uint16_t>(sign | (rounded - ((127 - 15) << 10)));
}

uint16_t FloatToBfloat16Bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace sfmla::sim
