// SPDX-License-Identifier: Apache-2.0
// Row-wise float32 arithmetic on UB. A matrix has up to 32 rows and a multiple of 64 columns, row
// behind row. V does not order its own instructions: each function ends with a barrier, so that its
// result may be used; what comes before it must be in order already.
#pragma once

#include "op_kernel/arch/dav_2201/buffers.h"
#include "op_kernel/common/scalar_math.h"

namespace sfmla::dav_2201 {

using Floats = AscendC::LocalTensor<float>;

inline constexpr float kLowestFloat = -3.402823466e+38f;
inline constexpr float kHighestFloat = 3.402823466e+38f;

__aicore__ inline void VectorBarrier() { AscendC::PipeBarrier<PIPE_V>(); }

struct MatrixShape {
  int64_t rows;
  int64_t columns;

  __aicore__ inline int64_t row_blocks() const { return columns / kFloatsPerBlock; }
  __aicore__ inline int64_t strips() const { return columns / kRepeatFloats; }
  __aicore__ inline int32_t elements() const { return static_cast<int32_t>(rows * columns); }
};

// Columns of the matrix from `strip` x 64 on.
__aicore__ inline Floats ColumnStrip(const Floats& matrix, int64_t strip) {
  return matrix[static_cast<uint32_t>(strip * kRepeatFloats)];
}

// matrix = matrix * scale in the first `columns` columns.
__aicore__ inline void ScaleColumns(const Floats& matrix, const MatrixShape& shape, int64_t columns,
                                    float scale) {
  AscendC::UnaryRepeatParams params{1, 1, 8, 8};
  params.dstRepStride = shape.row_blocks();
  params.srcRepStride = shape.row_blocks();
  for (int64_t first = 0; first < columns; first += kRepeatFloats) {
    const Floats strip = matrix[static_cast<uint32_t>(first)];
    AscendC::Muls(strip, strip, scale, LesserOf(kRepeatFloats, columns - first), shape.rows,
                  params);
  }
  VectorBarrier();
}

// Writes `value` to columns [begin, end) of all rows.
__aicore__ inline void FillColumns(const Floats& matrix, const MatrixShape& shape, int64_t begin,
                                   int64_t end, float value) {
  int64_t from = begin;
  while (from < end) {
    const int64_t strip = from / kRepeatFloats;
    const int64_t first = from % kRepeatFloats;
    const int64_t last = LesserOf(end - strip * kRepeatFloats, kRepeatFloats);  // exclusive
    const uint64_t below_last = last == kRepeatFloats ? ~uint64_t{0} : (uint64_t{1} << last) - 1;
    uint64_t mask[2] = {below_last & ~((uint64_t{1} << first) - 1), 0};
    AscendC::Duplicate(ColumnStrip(matrix, strip), value, mask, shape.rows, 1, shape.row_blocks());
    from = (strip + 1) * kRepeatFloats;
  }
  VectorBarrier();
}

// What rows are folded with.
enum class Fold : int32_t { kMaximum, kSum };

// Folds the 64-column strips of a matrix into one; `folded` has room for it.
struct FoldedRows {
  Floats strip;
  int64_t pitch;  // blocks of 32 B from row to row
};
template <Fold fold>
__aicore__ inline FoldedRows FoldStrips(const Floats& matrix, const MatrixShape& shape,
                                        const Floats& folded) {
  FoldedRows out{matrix, shape.row_blocks()};
  for (int64_t strip = 1; strip < shape.strips(); ++strip) {
    AscendC::BinaryRepeatParams params{1, 1, 1, 8, 8, 8};
    params.src0RepStride = out.pitch;
    params.src1RepStride = shape.row_blocks();
    const Floats next = ColumnStrip(matrix, strip);
    if constexpr (fold == Fold::kSum) {
      AscendC::Add(folded, out.strip, next, kRepeatFloats, shape.rows, params);
    } else {
      AscendC::Max(folded, out.strip, next, kRepeatFloats, shape.rows, params);
    }
    VectorBarrier();
    out.strip = folded;
    out.pitch = kRepeatFloats / kFloatsPerBlock;
  }
  return out;
}

// dst[row] = maximum or sum of the row, in an order that depends on the number of columns alone.
__aicore__ inline void RowMaximum(const Floats& dst, const Floats& matrix, const MatrixShape& shape,
                                  const Floats& folded) {
  const FoldedRows rows = FoldStrips<Fold::kMaximum>(matrix, shape, folded);
  AscendC::WholeReduceMax(dst, rows.strip, kRepeatFloats, shape.rows, 1, 1, rows.pitch,
                          AscendC::ReduceOrder::ORDER_ONLY_VALUE);
  VectorBarrier();
}
__aicore__ inline void RowSum(const Floats& dst, const Floats& matrix, const MatrixShape& shape,
                              const Floats& folded) {
  const FoldedRows rows = FoldStrips<Fold::kSum>(matrix, shape, folded);
  AscendC::WholeReduceSum(dst, rows.strip, kRepeatFloats, shape.rows, 1, 1, rows.pitch);
  VectorBarrier();
}

// blocks[row] = eight times values[row], for row-wise arithmetic. Reads values up to a multiple of
// 8 rows.
__aicore__ inline void SpreadRows(const Floats& blocks, const Floats& values, int64_t rows) {
  AscendC::Brcb(blocks, values, QuotientUp(rows, kFloatsPerBlock), {1, 8});
  VectorBarrier();
}

enum class RowOperation : int32_t { kSubtract, kMultiply };

// matrix[row] = matrix[row] - blocks[row], or times it. A row's block stands for all of its
// columns: it is read again for each block of the row.
template <RowOperation operation>
__aicore__ inline void CombineRows(const Floats& matrix, const Floats& blocks,
                                   const MatrixShape& shape) {
  AscendC::BinaryRepeatParams params{1, 1, 0, 8, 8, 1};
  params.dstRepStride = shape.row_blocks();
  params.src0RepStride = shape.row_blocks();
  for (int64_t strip = 0; strip < shape.strips(); ++strip) {
    const Floats columns = ColumnStrip(matrix, strip);
    if constexpr (operation == RowOperation::kSubtract) {
      AscendC::Sub(columns, columns, blocks, kRepeatFloats, shape.rows, params);
    } else {
      AscendC::Mul(columns, columns, blocks, kRepeatFloats, shape.rows, params);
    }
  }
  VectorBarrier();
}
__aicore__ inline void SubtractRows(const Floats& matrix, const Floats& blocks,
                                    const MatrixShape& shape) {
  CombineRows<RowOperation::kSubtract>(matrix, blocks, shape);
}
__aicore__ inline void MultiplyRows(const Floats& matrix, const Floats& blocks,
                                    const MatrixShape& shape) {
  CombineRows<RowOperation::kMultiply>(matrix, blocks, shape);
}

}  // namespace sfmla::dav_2201
