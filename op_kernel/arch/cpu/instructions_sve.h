// SPDX-License-Identifier: Apache-2.0
// What 256-bit SVE has instructions for. Part of vector.h, which says what each function is.
//
// Compiled with -msve-vector-bits=256, which makes vectors of 32 bytes registers, their operators
// instructions, and both convert to the types of the intrinsics. The code is wrong at any other
// vector length: tile_kernels.cpp sees to that.
#pragma once

#include <arm_sve.h>

#include "op_kernel/arch/cpu/vector_types.h"

#if __ARM_FEATURE_SVE_BITS != 256
#error "compile with -msve-vector-bits=256"
#endif

namespace sfmla::SFMLA_ISA_NAMESPACE {

inline Vec InRegister(Vec value) {
  svfloat32_t in_register = value;  // Clang takes no other type
  asm("" : "+w"(in_register));
  return in_register;
}

// Of a number in memory this is one load; GCC makes two instructions of the generic operators.
#define SFMLA_HAS_BROADCAST
inline Vec Broadcast(float value) { return svdup_n_f32(value); }
inline IntVec Broadcast(int32_t value) { return svdup_n_s32(value); }

inline Vec Fma(Vec a, Vec b, Vec c) { return svmla_f32_x(svptrue_b32(), c, a, b); }

// Conversions work on the low half of each lane.
inline Vec LoadFloat16(const uint16_t* from) {
  return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(svld1uh_u32(svptrue_b32(), from)));
}
inline void StoreFloat16(uint16_t* to, Vec value) {
  svst1h_u32(svptrue_b32(), to, svreinterpret_u32_f16(svcvt_f16_f32_x(svptrue_b32(), value)));
}

#if defined(SFMLA_USE_SVE_BF16)
#define SFMLA_HAS_PAIR_PRODUCTS
inline Vec AddPairProducts(Vec a, Vec b, Vec sum) {
  return svbfdot_f32(sum, svreinterpret_bf16_f32(a), svreinterpret_bf16_f32(b));
}
#endif

// Compilers look half of these shuffles up in tables.
#define SFMLA_HAS_SWAP_SQUARES
template <int kStep>
inline void SwapSquares(Vec& low, Vec& high) {
  const svfloat32_t a = low;
  const svfloat32_t b = high;
  if constexpr (kStep == 1) {
    low = svtrn1_f32(a, b);
    high = svtrn2_f32(a, b);
  } else if constexpr (kStep == 2) {
    const svfloat64_t a_pairs = svreinterpret_f64_f32(a);
    const svfloat64_t b_pairs = svreinterpret_f64_f32(b);
    low = svreinterpret_f32_f64(svtrn1_f64(a_pairs, b_pairs));
    high = svreinterpret_f32_f64(svtrn2_f64(a_pairs, b_pairs));
  } else {
    const svbool_t lower_half = svptrue_pat_b32(SV_VL4);
    low = svsplice_f32(lower_half, a, b);
    high = svsel_f32(lower_half, svext_f32(a, a, 4), b);
  }
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
