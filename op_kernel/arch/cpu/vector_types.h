// SPDX-License-Identifier: Apache-2.0
// One vector of float32 in the width of the instruction set this file is compiled for, and its
// companions. Like all of vector.h: included once per instruction set, inside its own namespace.
#pragma once

#include <stdint.h>
#include <string.h>

#ifndef SFMLA_ISA_NAMESPACE
#error "define SFMLA_ISA_NAMESPACE before including this header"
#endif

namespace sfmla::SFMLA_ISA_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__) || defined(SFMLA_USE_SVE)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float Vec __attribute__((vector_size(4 * kLanes)));
typedef int32_t IntVec __attribute__((vector_size(4 * kLanes)));
typedef uint32_t UintVec __attribute__((vector_size(4 * kLanes)));
typedef uint16_t HalfVec __attribute__((vector_size(2 * kLanes)));

// 2 x kLanes consecutive 16-bit elements, widened.
struct VecPair {
  Vec first;
  Vec second;
};
constexpr int kPairLanes = 2 * kLanes;

inline HalfVec LoadHalf(const uint16_t* from) {
  HalfVec out;
  memcpy(&out, from, sizeof(out));
  return out;
}
inline void StoreHalf(uint16_t* to, HalfVec value) { memcpy(to, &value, sizeof(value)); }

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
