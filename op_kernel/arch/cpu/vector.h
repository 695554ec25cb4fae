// SPDX-License-Identifier: Apache-2.0
// Arithmetic on vectors of float32 in the width of the instruction set this file is compiled for.
// Included once per instruction set, inside its own namespace: these functions must never be shared
// between translation units built with different flags, so nothing here comes from the standard
// library.
//
// The compiler's generic vectors do most of it. instructions_<processor>.h is the rest:
//
//   InRegister(value)        keeps the compiler from loading a value again at each use: loads are
//                            what the products run out of
//   Fma(a, b, c)             a * b + c, rounded once where the processor can
//   LoadFloat16(from)        kLanes float16, widened
//   StoreFloat16(to, value)  rounded half to even
//
// and, where SFMLA_HAS_PAIR_PRODUCTS says that the processor multiplies pairs of bfloat16,
//
//   AddPairProducts(a, b, sum)  sum + a.low * b.low + a.high * b.high, lane by lane; how it rounds
//                               is the processor's affair, and it may take subnormal numbers for 0
//
// SFMLA_HAS_<FUNCTION> says that it has a better form of a function below, SFMLA_HAS_NARROW_NORMALS
//
//   NarrowNormalsToPairs(low, high, &pairs)  what NarrowToPairs returns; false if it could not
#pragma once

#include <stdint.h>
#include <string.h>

#include "op_kernel/arch/cpu/vector_types.h"

#if defined(__AVX2__)
#include "op_kernel/arch/cpu/instructions_x86.h"
#elif defined(SFMLA_USE_SVE)
#include "op_kernel/arch/cpu/instructions_sve.h"
#elif defined(SFMLA_USE_NEON)
#include "op_kernel/arch/cpu/instructions_neon.h"
#else
#include "op_kernel/arch/cpu/instructions_generic.h"
#endif

namespace sfmla::SFMLA_ISA_NAMESPACE {

inline Vec Load(const float* from) {
  Vec out;
  memcpy(&out, from, sizeof(out));
  return out;
}
inline void Store(float* to, Vec value) { memcpy(to, &value, sizeof(value)); }
#if !defined(SFMLA_HAS_BROADCAST)
inline Vec Broadcast(float value) { return value - Vec{}; }
inline IntVec Broadcast(int32_t value) { return value - IntVec{}; }
#endif
inline IntVec Bits(Vec value) { return reinterpret_cast<IntVec>(value); }
inline Vec FromBits(IntVec bits) { return reinterpret_cast<Vec>(bits); }
// Four bytes of anything into every lane.
inline Vec BroadcastBits(const void* from) {
  int32_t bits;
  memcpy(&bits, from, sizeof(bits));
  return FromBits(Broadcast(bits));
}

// The larger one; `b` where either is NaN.
inline Vec Max(Vec a, Vec b) { return a > b ? a : b; }

// bfloat16 in the low half of each lane; the high half is 0.
inline UintVec NarrowBfloat16(Vec value) {
  const UintVec bits = reinterpret_cast<UintVec>(value);
  const UintVec odd = (bits >> 16) & 1u;
  const UintVec rounded = (bits + 0x7FFFu + odd) >> 16;
  const UintVec quiet_nan = (bits >> 16) | 0x40u;
  return value == value ? rounded : quiet_nan;
}

// float16: in order. bfloat16: the even elements, then the odd ones, which takes one instruction
// each. Everything widened is in this order, and NarrowPair undoes it.
inline VecPair WidenPairFloat16(const uint16_t* from) {
  return {LoadFloat16(from), LoadFloat16(from + kLanes)};
}
inline VecPair WidenPairBfloat16(const uint16_t* from) {
  IntVec bits;
  memcpy(&bits, from, sizeof(bits));
  return {FromBits(bits << 16), FromBits(bits & ~0xFFFF)};
}
inline void NarrowPairFloat16(const VecPair& pair, uint16_t* to) {
  StoreFloat16(to, pair.first);
  StoreFloat16(to + kLanes, pair.second);
}

// Two bfloat16 in each lane, `low` in the low half.
inline Vec NarrowToPairs(Vec low, Vec high) {
#if defined(SFMLA_HAS_NARROW_NORMALS)
  Vec pairs;
  if (NarrowNormalsToPairs(low, high, &pairs)) return pairs;
#endif
  return reinterpret_cast<Vec>(NarrowBfloat16(low) | (NarrowBfloat16(high) << 16));
}
inline void NarrowPairBfloat16(const VecPair& pair, uint16_t* to) {
  const Vec pairs = NarrowToPairs(pair.first, pair.second);
  memcpy(to, &pairs, sizeof(pairs));
}

#if !defined(SFMLA_HAS_PAIR_ELEMENTS)
// 2 x kLanes elements of two rows as pairs (element of `low`, the same element of `high`), in the
// order of widened bfloat16: even elements, then odd ones.
inline VecPair PairElements(Vec low, Vec high) {
  const UintVec a = reinterpret_cast<UintVec>(low);
  const UintVec b = reinterpret_cast<UintVec>(high);
  return {reinterpret_cast<Vec>((a & 0xFFFFu) | (b << 16)),
          reinterpret_cast<Vec>((a >> 16) | (b & 0xFFFF0000u))};
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
  // It wraps far below, where the result is 0.
  const UintVec exponent = (reinterpret_cast<UintVec>(shifted) << 23) + (127u << 23);
  const Vec result = p * reinterpret_cast<Vec>(exponent);
  return x < Broadcast(-87.33654f) ? Vec{} : result;
}

#if !defined(SFMLA_HAS_SWAP_SQUARES)
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
  if constexpr (kLanes == 16) {
    SwapSquaresOfLanes<kStep, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(low, high);
  } else if constexpr (kLanes == 8) {
    SwapSquaresOfLanes<kStep, 0, 1, 2, 3, 4, 5, 6, 7>(low, high);
  } else {
    SwapSquaresOfLanes<kStep, 0, 1, 2, 3>(low, high);
  }
}
#endif

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
