// SPDX-License-Identifier: Apache-2.0
// The cube's side of products: L1 to L0, multiply, store. Two buffers of each kind in L0 take
// turns.
#pragma once

#include "op_kernel/arch/dav_2201/buffers.h"
#include "op_kernel/arch/dav_2201/sync_points.h"
#include "op_kernel/common/scalar_math.h"

namespace sfmla::dav_2201 {

// Extents of one Mmad, in elements; what is loaded is rounded up to whole fractals.
struct ProductExtent {
  int64_t m;  // query heads, rounded up
  int64_t n;
  int64_t k;
};

template <typename T>
class CubeProducts {
 public:
  __aicore__ inline CubeProducts()
      : left_{BufferAt<T, l0::kLeft>(AscendC::TPosition::A2, 0),
              BufferAt<T, l0::kLeft>(AscendC::TPosition::A2, 1)},
        right_{BufferAt<T, l0::kRight>(AscendC::TPosition::B2, 0),
               BufferAt<T, l0::kRight>(AscendC::TPosition::B2, 1)},
        sum_{BufferAt<float, l0::kSum>(AscendC::TPosition::CO1, 0),
             BufferAt<float, l0::kSum>(AscendC::TPosition::CO1, 1)} {}

  // All buffers are free; call before and after everything else.
  __aicore__ inline void Begin() const {
    for (int32_t i = 0; i < 2; ++i) {
      AscendC::SetFlag<AscendC::HardEvent::M_MTE1>(l0_event::kOperands + i);
      AscendC::SetFlag<AscendC::HardEvent::FIX_M>(l0_event::kSum + i);
    }
  }
  __aicore__ inline void End() const {
    for (int32_t i = 0; i < 2; ++i) {
      AscendC::WaitFlag<AscendC::HardEvent::M_MTE1>(l0_event::kOperands + i);
      AscendC::WaitFlag<AscendC::HardEvent::FIX_M>(l0_event::kSum + i);
    }
  }

  // Begins a sum of products.
  __aicore__ inline void BeginSum() {
    AscendC::WaitFlag<AscendC::HardEvent::FIX_M>(l0_event::kSum + sum_side_);
    is_first_ = true;
  }

  // Waits until L0 has room for the operands of the next product.
  __aicore__ inline void BeginOperands() const {
    AscendC::WaitFlag<AscendC::HardEvent::M_MTE1>(l0_event::kOperands + side_);
  }

  // A, m x k, is columns [first_column, first_column + k) of an Nz matrix of `columns` columns.
  __aicore__ inline void LoadLeft(const AscendC::LocalTensor<T>& matrix, int64_t columns,
                                  int64_t first_column, const ProductExtent& extent) const {
    AscendC::LoadData3DParamsV2<T> params = MatrixMove(extent.m, columns);
    params.mExtension = extent.m;
    params.kStartPt = first_column;
    params.kExtension = MultipleUp(extent.k, kElementsPerBlock);
    AscendC::LoadData(left_[side_], matrix, params);
  }

  // B, k x n, is the transpose of an Nz matrix of n rows whose first k columns count: its blocks
  // lie in the order of L0B already.
  __aicore__ inline void LoadRightTransposed(const AscendC::LocalTensor<T>& matrix,
                                             const ProductExtent& extent) const {
    AscendC::LoadData2DParams params;
    params.repeatTimes =
        QuotientUp(extent.n, kFractalRows) * QuotientUp(extent.k, kElementsPerBlock);
    params.srcStride = 1;
    AscendC::LoadData(right_[side_], matrix, params);
  }

  // B, k x n, is rows [first_row, first_row + k) of an Nz matrix of `rows` rows and n columns.
  __aicore__ inline void LoadRight(const AscendC::LocalTensor<T>& matrix, int64_t rows,
                                   int64_t first_row, const ProductExtent& extent) const {
    AscendC::LoadData3DParamsV2<T> params = MatrixMove(rows, extent.n);
    params.mStartPt = first_row;
    params.mExtension = MultipleUp(extent.k, kFractalRows);
    params.kExtension = extent.n;
    AscendC::LoadData(right_[side_], matrix, params);
  }

  // Adds the product of the operands to the sum.
  __aicore__ inline void Multiply(const ProductExtent& extent) {
    AscendC::SetFlag<AscendC::HardEvent::MTE1_M>(l0_event::kOperands + side_);
    AscendC::WaitFlag<AscendC::HardEvent::MTE1_M>(l0_event::kOperands + side_);
    AscendC::MmadParams params;
    params.m = extent.m;
    params.n = extent.n;
    params.k = extent.k;
    params.cmatrixInitVal = is_first_;
    AscendC::Mmad(sum_[sum_side_], left_[side_], right_[side_], params);
    const int64_t blocks = extent.m / kFractalRows * QuotientUp(extent.n, kElementsPerBlock);
    if (blocks < kOverlappingBlocks) AscendC::PipeBarrier<PIPE_M>();
    AscendC::SetFlag<AscendC::HardEvent::M_MTE1>(l0_event::kOperands + side_);
    side_ ^= 1;
    is_first_ = false;
  }

  // Ends the sum: its first `rows` rows of n columns become rows of `pitch` elements.
  __aicore__ inline void Store(const AscendC::GlobalTensor<float>& destination, int64_t rows,
                               int64_t pitch, const ProductExtent& extent) {
    AscendC::SetFlag<AscendC::HardEvent::M_FIX>(l0_event::kSum + sum_side_);
    AscendC::WaitFlag<AscendC::HardEvent::M_FIX>(l0_event::kSum + sum_side_);
    AscendC::FixpipeParamsV220 params;
    params.nSize = extent.n;
    params.mSize = rows;
    params.srcStride = extent.m;
    params.dstStride = pitch;
    AscendC::Fixpipe(destination, sum_[sum_side_], params);
    AscendC::SetFlag<AscendC::HardEvent::FIX_M>(l0_event::kSum + sum_side_);
    sum_side_ ^= 1;
  }

 private:
  // A convolution with a filter of one point moves a matrix as it is.
  __aicore__ inline AscendC::LoadData3DParamsV2<T> MatrixMove(int64_t rows, int64_t columns) const {
    AscendC::LoadData3DParamsV2<T> params;
    params.l1H = rows / kFractalRows;
    params.l1W = kFractalRows;
    params.channelSize = columns;
    params.strideW = 1;
    params.strideH = 1;
    params.filterW = 1;
    params.filterH = 1;
    params.dilationFilterW = 1;
    params.dilationFilterH = 1;
    return params;
  }

  const AscendC::LocalTensor<T> left_[2];
  const AscendC::LocalTensor<T> right_[2];
  const AscendC::LocalTensor<float> sum_[2];
  int32_t side_ = 0;
  int32_t sum_side_ = 0;
  bool is_first_ = true;
};

}  // namespace sfmla::dav_2201
