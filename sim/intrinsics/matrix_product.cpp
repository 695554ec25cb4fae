// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/matrix_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/ascendc/half.h"
#include "sim/intrinsics/fractals.h"

namespace sfmla::sim {
namespace {

float Load(const std::byte* base, int64_t offset, CubeType type) {
  if (type == CubeType::kFloat) {
    float value = 0;
    std::memcpy(&value, base + offset * 4, 4);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, base + offset * 2, 2);
  return type == CubeType::kHalf ? HalfBitsToFloat(bits) : Bfloat16BitsToFloat(bits);
}

// One row of A, and 16 columns of B with a row per k; columns behind n are 0.
std::vector<float> LeftRow(const std::byte* left, const ProductShape& shape, int64_t row) {
  std::vector<float> values(static_cast<size_t>(shape.k));
  for (int64_t i = 0; i < shape.k; ++i) {
    values[i] = Load(left, LeftOffset(shape, row, i), shape.type);
  }
  return values;
}

using ColumnBlock = std::array<float, kAccumulatorColumns>;

std::vector<ColumnBlock> RightBlock(const std::byte* right, const ProductShape& shape,
                                    int64_t first, int64_t columns) {
  std::vector<ColumnBlock> values(static_cast<size_t>(shape.k));
  for (int64_t i = 0; i < shape.k; ++i) {
    for (int64_t column = 0; column < columns; ++column) {
      values[i][column] = Load(right, RightOffset(shape, i, first + column), shape.type);
    }
  }
  return values;
}

// sums + row * block, in the order of k. Vectors by hand: what compilers make of the plain loops
// differs by a factor of three.
ColumnBlock RowSums(const ColumnBlock& sums, const std::vector<float>& row,
                    const std::vector<ColumnBlock>& block) {
  using Vector = float __attribute__((vector_size(16)));
  Vector parts[4];
  static_assert(sizeof(parts) == sizeof(sums));
  std::memcpy(parts, sums.data(), sizeof(parts));
  for (size_t i = 0; i < row.size(); ++i) {
    Vector terms[4];
    std::memcpy(terms, block[i].data(), sizeof(terms));
    for (int part = 0; part < 4; ++part) parts[part] += row[i] * terms[part];
  }
  ColumnBlock result;
  std::memcpy(result.data(), parts, sizeof(parts));
  return result;
}

}  // namespace

int64_t LeftOffset(const ProductShape& shape, int64_t row, int64_t reduced) {
  return shape.is_gemv() ? reduced : ZzOffset(row, reduced, CubeC0(shape.type), shape.k);
}

int64_t RightOffset(const ProductShape& shape, int64_t reduced, int64_t column) {
  return ZnOffset(reduced, column, CubeC0(shape.type), shape.n);
}

int64_t LeftElements(const ProductShape& shape) {
  const int64_t k = AlignUp(shape.k, CubeC0(shape.type));
  return shape.is_gemv() ? k : AlignUp(shape.m, kFractalRows) * k;
}

int64_t RightElements(const ProductShape& shape) {
  return AlignUp(shape.k, CubeC0(shape.type)) * AlignUp(shape.n, kFractalRows);
}

int64_t AccumulatorElements(const ProductShape& shape) {
  return AlignUp(shape.m, kFractalRows) * AlignUp(shape.n, kAccumulatorColumns);
}

void MatrixProduct(float* accumulator, const std::byte* left, const std::byte* right,
                   const ProductShape& shape) {
  std::vector<std::vector<float>> left_rows;
  for (int64_t row = 0; row < shape.m; ++row) left_rows.push_back(LeftRow(left, shape, row));
  for (int64_t first = 0; first < shape.n; first += kAccumulatorColumns) {
    const int64_t columns = std::min(kAccumulatorColumns, shape.n - first);
    const std::vector<ColumnBlock> block = RightBlock(right, shape, first, columns);
    for (int64_t row = 0; row < shape.m; ++row) {
      float* sums_out = accumulator + AccumulatorOffset(row, first, shape.m);
      ColumnBlock sums{};
      if (shape.adds) std::copy(sums_out, sums_out + columns, sums.begin());
      sums = RowSums(sums, left_rows[row], block);
      std::copy(sums.begin(), sums.begin() + columns, sums_out);
    }
  }
}

std::vector<bool> UnwrittenLines(const std::vector<bool>& written, int64_t lines, int64_t k,
                                 int64_t* mixed) {
  std::vector<bool> unwritten(static_cast<size_t>(lines));
  for (int64_t line = 0; line < lines; ++line) {
    int64_t count = 0;
    for (int64_t i = 0; i < k; ++i) count += written[line * k + i] ? 1 : 0;
    unwritten[line] = count == 0;
    if (count != 0 && count != k && *mixed < 0) *mixed = line;
  }
  return unwritten;
}

}  // namespace sfmla::sim
