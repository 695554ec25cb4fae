// SPDX-License-Identifier: Apache-2.0
// What AVX2 and AVX-512 have instructions for. Part of vector.h, which says what each function is.
#pragma once

#include <immintrin.h>

#include "op_kernel/arch/cpu/vector_types.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

inline Vec InRegister(Vec value) {
  asm("" : "+v"(value));
  return value;
}

inline Vec Fma(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#else
  return _mm256_fmadd_ps(a, b, c);
#endif
}

inline Vec LoadFloat16(const uint16_t* from) {
#if defined(__AVX512F__)
  // The masked forms: the plain ones read an undefined register in GCC 12's header, and warn.
  return _mm512_maskz_cvtph_ps(0xFFFF, reinterpret_cast<__m256i>(LoadHalf(from)));
#else
  return _mm256_cvtph_ps(reinterpret_cast<__m128i>(LoadHalf(from)));
#endif
}

inline void StoreFloat16(uint16_t* to, Vec value) {
#if defined(__AVX512F__)
  const __m256i half = _mm512_maskz_cvtps_ph(0xFFFF, value, _MM_FROUND_TO_NEAREST_INT);
#else
  const __m128i half = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
#endif
  StoreHalf(to, reinterpret_cast<HalfVec>(half));
}

#if defined(__AVX512BF16__)
#define SFMLA_HAS_PAIR_PRODUCTS
inline Vec AddPairProducts(Vec a, Vec b, Vec sum) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}
#endif

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
