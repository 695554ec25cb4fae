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

#if defined(__AVX512BW__)
// Which of the 32 elements of a vector, or of 64 of two, come next to each other.
struct ElementOrder {
  uint16_t of[kPairLanes];
};
constexpr ElementOrder OrderOfPairs(int first, int step, int second) {
  ElementOrder out{};
  for (int i = 0; i < kLanes; ++i) {
    out.of[2 * i] = static_cast<uint16_t>(step * i + first);
    out.of[2 * i + 1] = static_cast<uint16_t>(step * i + second);
  }
  return out;
}
constexpr ElementOrder kHalves = OrderOfPairs(0, 1, kLanes);
constexpr ElementOrder kEven = OrderOfPairs(0, 2, kPairLanes);
constexpr ElementOrder kOdd = OrderOfPairs(1, 2, kPairLanes + 1);

inline Vec Pick(Vec a, Vec b, const ElementOrder& order) {
  return reinterpret_cast<Vec>(_mm512_permutex2var_epi16(
      reinterpret_cast<__m512i>(a), _mm512_loadu_si512(order.of), reinterpret_cast<__m512i>(b)));
}

#define SFMLA_HAS_PAIR_ELEMENTS
inline VecPair PairElements(Vec low, Vec high) {
  return {Pick(low, high, kEven), Pick(low, high, kOdd)};
}
#endif

#if defined(__AVX512BF16__)
#define SFMLA_HAS_PAIR_PRODUCTS
inline Vec AddPairProducts(Vec a, Vec b, Vec sum) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

// False where the instruction would take a subnormal number for 0.
#define SFMLA_HAS_NARROW_NORMALS
inline bool NarrowNormalsToPairs(Vec low, Vec high, Vec* pairs) {
  constexpr int kSubnormal = 0x20;
  const __mmask16 found =
      _mm512_fpclass_ps_mask(low, kSubnormal) | _mm512_fpclass_ps_mask(high, kSubnormal);
  const Vec halves = reinterpret_cast<Vec>(_mm512_cvtne2ps_pbh(high, low));
  *pairs = Pick(halves, halves, kHalves);
  return found == 0;
}
#endif

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
