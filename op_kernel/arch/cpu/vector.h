// SPDX-License-Identifier: Apache-2.0
// One vector of float32 in the width of the instruction set this file is compiled for. Included
// once per instruction set, inside its own namespace: these functions must never be shared between
// translation units built with different flags, so nothing here comes from the standard library.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(SFMLA_USE_NEON)
#include <arm_neon.h>
#endif

#ifndef SFMLA_ISA_NAMESPACE
#error "define SFMLA_ISA_NAMESPACE before including this header"
#endif

namespace sfmla::SFMLA_ISA_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float Vec __attribute__((vector_size(4 * kLanes)));
typedef int32_t IntVec __attribute__((vector_size(4 * kLanes)));
typedef uint32_t UintVec __attribute__((vector_size(4 * kLanes)));
typedef uint16_t HalfVec __attribute__((vector_size(2 * kLanes)));

inline Vec Load(const float* from) {
  Vec out;
  memcpy(&out, from, sizeof(out));
  return out;
}
// Keeps the compiler from loading a value again at each use: loads are what the products run out
// of.
inline Vec InRegister(Vec value) {
#if defined(__AVX2__)
  asm("" : "+v"(value));
#elif defined(SFMLA_USE_NEON)
  asm("" : "+w"(value));
#endif
  return value;
}
inline void Store(float* to, Vec value) { memcpy(to, &value, sizeof(value)); }
inline HalfVec LoadHalf(const uint16_t* from) {
  HalfVec out;
  memcpy(&out, from, sizeof(out));
  return out;
}
inline void StoreHalf(uint16_t* to, HalfVec value) { memcpy(to, &value, sizeof(value)); }
inline Vec Broadcast(float value) { return value - Vec{}; }
// Four bytes of anything into every lane.
inline Vec BroadcastBits(const void* from) {
  int32_t bits;
  memcpy(&bits, from, sizeof(bits));
  return reinterpret_cast<Vec>(bits - IntVec{});
}
inline IntVec Bits(Vec value) { return reinterpret_cast<IntVec>(value); }
inline Vec FromBits(IntVec bits) { return reinterpret_cast<Vec>(bits); }

// a * b + c, rounded once where the processor can.
inline Vec Fma(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(SFMLA_USE_NEON)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// The larger one; `b` where either is NaN.
inline Vec Max(Vec a, Vec b) { return a > b ? a : b; }

// Scalar reference of the half conversions, for instruction sets without them.
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

inline Vec WidenFloat16(HalfVec half) {
#if defined(__AVX512F__)
  // The masked forms: the plain ones read an undefined register in GCC 12's header, and warn.
  return _mm512_maskz_cvtph_ps(0xFFFF, reinterpret_cast<__m256i>(half));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(reinterpret_cast<__m128i>(half));
#elif defined(SFMLA_USE_NEON)
  return vcvt_f32_f16(vreinterpret_f16_u16(half));
#else
  Vec out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = WidenFloat16(half[lane]);
  return out;
#endif
}

inline HalfVec NarrowFloat16(Vec value) {
#if defined(__AVX512F__)
  return reinterpret_cast<HalfVec>(_mm512_maskz_cvtps_ph(0xFFFF, value, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  return reinterpret_cast<HalfVec>(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#elif defined(SFMLA_USE_NEON)
  return vreinterpret_u16_f16(vcvt_f16_f32(value));
#else
  HalfVec out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = NarrowFloat16(value[lane]);
  return out;
#endif
}

// bfloat16 in the low half of each lane; the high half holds anything.
inline IntVec NarrowBfloat16(Vec value) {
  const IntVec bits = Bits(value);
  const IntVec odd = (bits >> 16) & 1;
  const IntVec rounded = (bits + 0x7FFF + odd) >> 16;
  const IntVec quiet_nan = (bits >> 16) | 0x40;
  return value == value ? rounded : quiet_nan;
}

// 2 x kLanes consecutive 16-bit elements, widened.
struct VecPair {
  Vec first;
  Vec second;
};
constexpr int kPairLanes = 2 * kLanes;

// float16: in order. bfloat16: the even elements, then the odd ones, which takes one instruction
// each. Everything widened is in this order, and NarrowPair undoes it.
inline VecPair WidenPairFloat16(const uint16_t* from) {
  return {WidenFloat16(LoadHalf(from)), WidenFloat16(LoadHalf(from + kLanes))};
}
inline VecPair WidenPairBfloat16(const uint16_t* from) {
  IntVec bits;
  memcpy(&bits, from, sizeof(bits));
  return {FromBits(bits << 16), FromBits(bits & ~0xFFFF)};
}
inline void NarrowPairFloat16(const VecPair& pair, uint16_t* to) {
  StoreHalf(to, NarrowFloat16(pair.first));
  StoreHalf(to + kLanes, NarrowFloat16(pair.second));
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
#endif

// Two bfloat16 in each lane, `low` in the low half.
inline Vec NarrowToPairs(Vec low, Vec high) {
#if defined(__AVX512BF16__)
  constexpr int kSubnormal = 0x20;
  if ((_mm512_fpclass_ps_mask(low, kSubnormal) | _mm512_fpclass_ps_mask(high, kSubnormal)) == 0) {
    const Vec halves = reinterpret_cast<Vec>(_mm512_cvtne2ps_pbh(high, low));
    return Pick(halves, halves, kHalves);
  }  // which the instruction would take for 0
#endif
  return FromBits((NarrowBfloat16(low) & 0xFFFF) | (NarrowBfloat16(high) << 16));
}
inline void NarrowPairBfloat16(const VecPair& pair, uint16_t* to) {
  const Vec pairs = NarrowToPairs(pair.first, pair.second);
  memcpy(to, &pairs, sizeof(pairs));
}

// 2 x kLanes elements of two rows as pairs (element of `low`, the same element of `high`), in the
// order of widened bfloat16: even elements, then odd ones.
inline VecPair PairElements(Vec low, Vec high) {
#if defined(__AVX512BW__)
  return {Pick(low, high, kEven), Pick(low, high, kOdd)};
#else
  const UintVec a = reinterpret_cast<UintVec>(low);
  const UintVec b = reinterpret_cast<UintVec>(high);
  return {reinterpret_cast<Vec>((a & 0xFFFFu) | (b << 16)),
          reinterpret_cast<Vec>((a >> 16) | (b & 0xFFFF0000u))};
#endif
}

// Whether the processor multiplies pairs of bfloat16.
#if defined(__AVX512BF16__) || defined(SFMLA_USE_NEON_BF16)
#define SFMLA_HAS_PAIR_PRODUCTS
// sum + a.low * b.low + a.high * b.high, lane by lane; how it rounds is the processor's affair, and
// it may take subnormal numbers for 0.
inline Vec AddPairProducts(Vec a, Vec b, Vec sum) {
#if defined(__AVX512BF16__)
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
#else
  return vbfdotq_f32(sum, vreinterpretq_bf16_f32(a), vreinterpretq_bf16_f32(b));
#endif
}
#endif

// exp(x) for x <= 0 or NaN: 0 below ln(2^-126), at most 2 units in the last place off above.
// x = n ln 2 + r with |r| <= ln 2 / 2; the Taylor series of exp(r) to r^7 is good to 6e-9.
inline Vec ExpNonPositive(Vec x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: the sum keeps n in its low mantissa bits
  const Vec shifted = Fma(x, Broadcast(1.44269504089f), Broadcast(kRounder));
  const Vec n = shifted - kRounder;
  Vec r = Fma(n, Broadcast(-0.693359375f), x);
  r = Fma(n, Broadcast(2.12194440e-4f), r);
  Vec p = Broadcast(1.0f / 5040);
  p = Fma(p, r, Broadcast(1.0f / 720));
  p = Fma(p, r, Broadcast(1.0f / 120));
  p = Fma(p, r, Broadcast(1.0f / 24));
  p = Fma(p, r, Broadcast(1.0f / 6));
  p = Fma(p, r, Broadcast(0.5f));
  p = Fma(p, r, Broadcast(1.0f));
  p = Fma(p, r, Broadcast(1.0f));
  const IntVec exponent = (Bits(shifted) << 23) + (127 << 23);
  const Vec result = p * FromBits(exponent);
  return x < Broadcast(-87.33654f) ? Vec{} : result;
}

// One step of a transposition: swaps squares of kStep lanes between two vectors.
template <int kStep, int... kLane>
inline void SwapSquaresOfLanes(Vec& low, Vec& high) {
  constexpr int n = kLanes;
  const Vec a = low;
  const Vec b = high;
  low = __builtin_shufflevector(a, b, ((kLane & kStep) ? kLane - kStep + n : kLane)...);
  high = __builtin_shufflevector(a, b, ((kLane & kStep) ? kLane + n : kLane + kStep)...);
}

template <int kStep>
inline void SwapSquares(Vec& low, Vec& high) {
#if defined(__AVX512F__)
  SwapSquaresOfLanes<kStep, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(low, high);
#elif defined(__AVX2__)
  SwapSquaresOfLanes<kStep, 0, 1, 2, 3, 4, 5, 6, 7>(low, high);
#else
  SwapSquaresOfLanes<kStep, 0, 1, 2, 3>(low, high);
#endif
}

// Transposes kLanes vectors in place: log2(kLanes) rounds that swap ever larger squares.
template <int kStep = 1>
inline void Transpose(Vec (&rows)[kLanes]) {
  if constexpr (kStep < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kStep) == 0) SwapSquares<kStep>(rows[i], rows[i + kStep]);
    }
    Transpose<2 * kStep>(rows);
  }
}

// Lane i of rows[0] becomes the sum over the lanes of rows[i], by a tree that is the same for all.
template <int kStep = 1>
inline void SumRows(Vec (&rows)[kLanes]) {
  if constexpr (kStep < kLanes) {
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / (2 * kStep); ++i) {
      SwapSquares<kStep>(rows[2 * i], rows[2 * i + 1]);
      rows[i] = rows[2 * i] + rows[2 * i + 1];
    }
    SumRows<2 * kStep>(rows);
  }
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
