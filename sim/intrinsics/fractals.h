// SPDX-License-Identifier: Apache-2.0
// Where element (row, column) of a matrix lies in the fractal layouts of L1 and L0. A fractal is 16
// rows of 32 bytes (512 B); C0 = 32 / element bytes is its width. Offsets are in elements.
//
//   L1, and L0C with 16 columns of float32   Nz  blocks by columns, rows inside
//   L0A                                      Zz  blocks by rows, rows inside
//   L0B                                      Zn  blocks by rows, columns inside
#pragma once

#include <cstdint>

#include "base/checked_math.h"

namespace sfmla::sim {

inline constexpr int64_t kFractalRows = 16;
inline constexpr int64_t kFractalBytes = 512;
inline constexpr int64_t kAccumulatorColumns = 16;  // of an L0C fractal, which has 1024 B

constexpr int64_t NzOffset(int64_t row, int64_t column, int64_t block_columns,
                           int64_t rows_per_block_column) {
  return (column / block_columns * rows_per_block_column + row) * block_columns +
         column % block_columns;
}

constexpr int64_t ZzOffset(int64_t row, int64_t column, int64_t c0, int64_t columns) {
  const int64_t fractal = row / kFractalRows * CeilDiv(columns, c0) + column / c0;
  return (fractal * kFractalRows + row % kFractalRows) * c0 + column % c0;
}

// Rows are the reduced axis (k), 16 columns of n make a fractal of C0 rows.
constexpr int64_t ZnOffset(int64_t row, int64_t column, int64_t c0, int64_t columns) {
  const int64_t fractal = row / c0 * CeilDiv(columns, kFractalRows) + column / kFractalRows;
  return (fractal * kFractalRows + column % kFractalRows) * c0 + row % c0;
}

// Element (row, column) of the accumulator of a multiplication with m rows.
constexpr int64_t AccumulatorOffset(int64_t row, int64_t column, int64_t m) {
  return NzOffset(row, column, kAccumulatorColumns, AlignUp(m, kFractalRows));
}

}  // namespace sfmla::sim
