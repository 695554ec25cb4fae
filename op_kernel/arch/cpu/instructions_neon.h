// SPDX-License-Identifier: Apache-2.0
// What NEON has instructions for. Part of vector.h, which says what each function is.
#pragma once

#include <arm_neon.h>

#include "op_kernel/arch/cpu/vector_types.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

inline Vec InRegister(Vec value) {
  asm("" : "+w"(value));
  return value;
}

inline Vec Fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }

inline Vec LoadFloat16(const uint16_t* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(LoadHalf(from)));
}
inline void StoreFloat16(uint16_t* to, Vec value) {
  StoreHalf(to, vreinterpret_u16_f16(vcvt_f16_f32(value)));
}

#if defined(SFMLA_USE_NEON_BF16)
#define SFMLA_HAS_PAIR_PRODUCTS
inline Vec AddPairProducts(Vec a, Vec b, Vec sum) {
  return vbfdotq_f32(sum, vreinterpretq_bf16_f32(a), vreinterpretq_bf16_f32(b));
}
#endif

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
