// SPDX-License-Identifier: Apache-2.0
// Mmad: C = A * B or C += A * B on the cube, pipe M. A is m x k in L0A (Zz), B k x n in L0B (Zn), C
// m x n float32 in L0C (Nz, blocks of 16 columns with m rounded up to 16 rows). The arithmetic and
// its order are in matrix_product.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/ascendc/parameters.h"
#include "sim/ascendc/tensors.h"
#include "sim/intrinsics/matrix_product.h"
#include "sim/intrinsics/numbers.h"
#include "sim/source_location.h"

namespace sfmla::sim {

void IssueMmad(const Call& call, const Operand& dst, const Operand& left, const Operand& right,
               const AscendC::MmadParams& params, CubeType type);

template <typename T>
constexpr CubeType CubeTypeOf() {
  if constexpr (std::is_same_v<T, half>) return CubeType::kHalf;
  if constexpr (std::is_same_v<T, bfloat16_t>) return CubeType::kBfloat16;
  return CubeType::kFloat;
}

}  // namespace sfmla::sim

namespace AscendC {

// m, n, k 0..4095, 0 does nothing; m = 1 reads A as a plain row of k elements. cmatrixInitVal
// starts from 0 instead of the old C. unitFlag: 0 none, 2 waits for free units of L0C, 3 also marks
// them full. U and S are half, bfloat16_t or float, T is float. Elements behind k do not count;
// rows behind m and columns behind n of C are left undefined.
template <typename T, typename U, typename S>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const MmadParams& params, const SourceLocation& where = SourceLocation::current()) {
  const sfmla::sim::Call call{"Mmad", sfmla::sim::Pipe::kM, where};
  sfmla::sim::RequireType<T, float>(call, "dst");
  sfmla::sim::RequireType<U, half, bfloat16_t, float>(call, "fm");
  sfmla::sim::RequireType<S, U>(call, "filter");
  sfmla::sim::IssueMmad(call, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(fm),
                        sfmla::sim::OperandOf(filter), params, sfmla::sim::CubeTypeOf<U>());
}

}  // namespace AscendC
