// SPDX-License-Identifier: Apache-2.0
// Pairs of float16, for the products in AMX tiles. Part of tile_kernels_amxfp16.cpp.
#pragma once

#include "op_kernel/arch/cpu/amx_products_impl.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

struct Float16Number {
  static constexpr ElementType kType = ElementType::kFloat16;
  // Weights are at most 1, which this makes the largest power of two that there is. As they are
  // they would lose digits below 2^-14, and be 0 below 2^-25: too much if there are many, or if
  // little else adds to an output.
  static constexpr float kWeightScale = 0x1p15f;

  static Vec Narrow(Vec low, Vec high) {
    return reinterpret_cast<Vec>(NarrowInLowHalves(low) | (NarrowInLowHalves(high) << 16));
  }
  static VecPair PairElements(Vec low, Vec high) {
    return {Pick(low, high, kFirstHalves), Pick(low, high, kSecondHalves)};
  }

 private:
  static constexpr ElementOrder kFirstHalves = OrderOfPairs(0, 1, kPairLanes);
  static constexpr ElementOrder kSecondHalves = OrderOfPairs(kLanes, 1, kPairLanes + kLanes);

  // Of each lane. The masked forms: see LoadFloat16.
  static UintVec NarrowInLowHalves(Vec value) {
    return reinterpret_cast<UintVec>(_mm512_maskz_cvtepu16_epi32(
        0xFFFF, _mm512_maskz_cvtps_ph(0xFFFF, value, _MM_FROUND_TO_NEAREST_INT)));
  }
};

constexpr TypeProducts MakeAmxFloat16() {
  return MakeAmxProducts<Float16Number, Float16Arithmetic>();
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
