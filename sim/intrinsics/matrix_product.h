// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Mmad on fractal layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfmla::sim {

enum class CubeType : uint8_t { kHalf, kBfloat16, kFloat };
constexpr int64_t CubeTypeBytes(CubeType type) { return type == CubeType::kFloat ? 4 : 2; }
constexpr int64_t CubeC0(CubeType type) { return 32 / CubeTypeBytes(type); }

struct ProductShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  CubeType type = CubeType::kHalf;
  bool adds = false;  // starts from the old accumulator instead of 0

  // One row is not a fractal: A is read as a plain vector of k elements.
  bool is_gemv() const { return m == 1; }
};

// Offsets in elements from the start of the operand.
int64_t LeftOffset(const ProductShape& shape, int64_t row, int64_t reduced);
int64_t RightOffset(const ProductShape& shape, int64_t reduced, int64_t column);

// Elements of L0A, L0B and L0C that a product of this shape covers, whole fractals.
int64_t LeftElements(const ProductShape& shape);
int64_t RightElements(const ProductShape& shape);
int64_t AccumulatorElements(const ProductShape& shape);

// accumulator[row, column] = (adds ? accumulator[row, column] : 0)
//                            + sum over k of left[row, k] * right[k, column]
// in float32, one k after the other, beginning with the old value: the order that makes an element
// independent of m and n. Only the m x n elements asked for are written.
void MatrixProduct(float* accumulator, const std::byte* left, const std::byte* right,
                   const ProductShape& shape);

// Which rows of A or columns of B consist of nothing but unwritten elements (they give results that
// count as unwritten too). `written[line * k + i]` says whether element i of the line was written.
// A line that is written in part mixes padding into sums that will be used: its number goes to
// `mixed`, which stays -1 otherwise.
std::vector<bool> UnwrittenLines(const std::vector<bool>& written, int64_t lines, int64_t k,
                                 int64_t* mixed);

}  // namespace sfmla::sim
