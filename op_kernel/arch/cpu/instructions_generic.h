// SPDX-License-Identifier: Apache-2.0
// What every processor can do. Part of vector.h, which says what each function is.
#pragma once

#include "op_kernel/arch/cpu/vector_types.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

inline Vec InRegister(Vec value) { return value; }

inline Vec Fma(Vec a, Vec b, Vec c) { return a * b + c; }

inline float WidenFloat16(uint16_t half) {
  const uint32_t magnitude = half & 0x7FFFu;
  uint32_t bits = magnitude << 13;
  if (magnitude >= 0x7C00u) {
    bits += (255u - 31u) << 23;  // infinity and NaN
  } else if (magnitude >= 0x0400u) {
    bits += (127u - 15u) << 23;
  } else {
    const float scaled = static_cast<float>(magnitude) * 0x1p-24f;
    memcpy(&bits, &scaled, sizeof(bits));
  }
  bits |= static_cast<uint32_t>(half & 0x8000u) << 16;
  float out;
  memcpy(&out, &bits, sizeof(out));
  return out;
}

inline uint16_t NarrowFloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000u;
  bits &= 0x7FFFFFFFu;
  if (bits > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);   // NaN
  if (bits >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // rounds past 65504
  if (bits < 0x38800000u) {  // subnormal: adding 0.5 puts the wanted bits at the bottom
    float magnitude;
    memcpy(&magnitude, &bits, sizeof(magnitude));
    magnitude += 0.5f;
    memcpy(&bits, &magnitude, sizeof(bits));
    return static_cast<uint16_t>(sign | (bits - 0x3F000000u));
  }
  bits += 0xFFFu + (bits >> 13 & 1u) - ((127u - 15u) << 23);
  return static_cast<uint16_t>(sign | bits >> 13);
}

inline Vec LoadFloat16(const uint16_t* from) {
  Vec out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = WidenFloat16(from[lane]);
  return out;
}
inline void StoreFloat16(uint16_t* to, Vec value) {
  for (int lane = 0; lane < kLanes; ++lane) to[lane] = NarrowFloat16(value[lane]);
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
