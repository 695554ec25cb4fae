// SPDX-License-Identifier: Apache-2.0
// LoadData: L1 to L0A or L0B on MTE1, in fractals of 512 B (16 rows of C0 = 32 B / sizeof(T)
// elements). L0 addresses are multiples of 512 B, L1 addresses of 32 B. Bytes of L1 that nobody
// wrote (rows behind a matrix whose height is no multiple of 16) travel along and stay unwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sim/ascendc/parameters.h"
#include "sim/ascendc/tensors.h"
#include "sim/intrinsics/registers.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// `fractals` fractals; strides in bytes from start to start.
struct FractalMove {
  int64_t fractals = 0;
  int64_t src_stride = 0;
  int64_t dst_stride = 0;
  bool transposes = false;  // each fractal, of 2-byte elements
};
void MoveFractals(std::byte* dst, const std::byte* src, const FractalMove& move);

// rows x columns elements of a matrix that lies in L1 as Nz with `stored_rows` rows, to L0A as Zz
// or to L0B as Zn. src is the first of them, on the border of a block column. Only the first
// `available_rows` rows are in L1, the others are padding.
struct MatrixMove {
  int64_t stored_rows = 0;
  int64_t available_rows = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t element_bytes = 0;
  bool to_l0b = false;
  std::byte padding[4] = {};
};
void MoveMatrix(std::byte* dst, const std::byte* src, const MatrixMove& move);

// The fields of LoadData3DParamsV2 and the registers it sets or leaves, without the element type.
struct Load3dCall {
  AscendC::LoadData3DParamsV2<uint8_t> params;
  AscendC::IsResetLoad3dConfig resets;
  uint32_t padding_bits = 0;
  int64_t element_bytes = 0;
};

void IssueLoad2d(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const AscendC::LoadData2DParams& params, int64_t element_bytes);
void IssueLoad3d(const SourceLocation& where, const Operand& dst, const Operand& src,
                 const Load3dCall& load);

template <typename T>
AscendC::LoadData3DParamsV2<uint8_t> Untyped(const AscendC::LoadData3DParamsV2<T>& params) {
  AscendC::LoadData3DParamsV2<uint8_t> result;
  for (int side = 0; side < 4; ++side) result.padList[side] = params.padList[side];
  result.l1H = params.l1H;
  result.l1W = params.l1W;
  result.channelSize = params.channelSize;
  result.kExtension = params.kExtension;
  result.mExtension = params.mExtension;
  result.kStartPt = params.kStartPt;
  result.mStartPt = params.mStartPt;
  result.strideW = params.strideW;
  result.strideH = params.strideH;
  result.filterW = params.filterW;
  result.filterH = params.filterH;
  result.dilationFilterW = params.dilationFilterW;
  result.dilationFilterH = params.dilationFilterH;
  result.enTranspose = params.enTranspose;
  result.enSmallK = params.enSmallK;
  result.filterSizeW = params.filterSizeW;
  result.filterSizeH = params.filterSizeH;
  result.fMatrixCtrl = params.fMatrixCtrl;
  return result;
}

}  // namespace sfmla::sim

namespace AscendC {

// repeatTimes 0..255 fractals: number startIndex + i * srcStride of src to place i * (dstGap + 1)
// of dst, turned over where ifTranspose asks for it (2-byte types). addrMode 1 counts src
// downwards.
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueLoad2d(where, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(src), params,
                          sizeof(T));
}

// The move of a matrix that a convolution with a filter of 1 x 1 and stride 1 is: l1H * l1W rows of
// channelSize elements in L1, of which mExtension rows (a multiple of 16) from mStartPt and
// kExtension columns (a multiple of C0) from kStartPt go to L0A as Zz, or to L0B, whose rows are
// the reduced axis, as Zn (2-byte types only). padList[3] rows of padValue lie below the matrix.
// With config {false, ...} l1H, l1W and padList are those of SetFmatrix or the call before, with
// {..., false} padValue is the one of SetLoadDataPaddingValue.
template <typename T, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
              const LoadData3DParamsV2<U>& params,
              const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::Load3dCall load{sfmla::sim::Untyped(params), config, 0, sizeof(T)};
  std::memcpy(&load.padding_bits, &params.padValue, sizeof(U));
  sfmla::sim::IssueLoad3d(where, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(src), load);
}

}  // namespace AscendC
