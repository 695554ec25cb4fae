// SPDX-License-Identifier: Apache-2.0
// Fixpipe: float32 accumulators from L0C to GM or L1, converted on the way, pipe FIX.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/ascendc/parameters.h"
#include "sim/ascendc/tensors.h"
#include "sim/intrinsics/numbers.h"
#include "sim/intrinsics/registers.h"
#include "sim/source_location.h"

namespace sfmla::sim {

enum class FixpipeType : uint8_t { kFloat, kHalf, kBfloat16 };
constexpr int64_t FixpipeTypeBytes(FixpipeType type) { return type == FixpipeType::kFloat ? 4 : 2; }

// matrices Nz matrices of rows x columns, source element (r, c) of matrix i at byte
//   i * src_matrix_stride + c / 16 * src_block_stride + r * 64 + c % 16 * 4
// to destination byte
//   i * dst_matrix_stride + c / dst_block_columns * dst_block_stride + r * dst_row_stride
//                         + c % dst_block_columns * element bytes
// Row-major is the case of one block as wide as the matrix.
struct FixpipePlan {
  int64_t matrices, rows, columns;
  int64_t src_matrix_stride, src_block_stride;
  int64_t dst_matrix_stride, dst_block_stride, dst_row_stride, dst_block_columns;
  FixpipeType type;
  bool clamps_negative;  // reluEn
  bool adds;             // to what is in GM
};
void ConvertAccumulators(std::byte* dst, const std::byte* src, const FixpipePlan& plan);

void IssueFixpipe(const Call& call, const Operand& dst, const Operand& src,
                  const AscendC::FixpipeParamsV220& params, bool row_major, FixpipeType type,
                  std::optional<ScalarState::AtomicType> atomic_type);

// The one quantPre that makes T of float32, checked against the one given.
template <typename T>
FixpipeType CheckedFixpipeType(const Call& call, QuantMode_t quant) {
  RequireType<T, float, half, bfloat16_t>(call, "dst");
  const bool fits = std::is_same_v<T, float>  ? quant == NoQuant
                    : std::is_same_v<T, half> ? quant == F322F16
                                              : quant == F322BF16;
  if (!fits) {
    Refuse(call, "quantPre: ", int{quant}, " with dst ", TypeName<T>(),
           ", must be NoQuant (0) for float, F322F16 (1) for half, F322BF16 (16) for bfloat16_t");
  }
  return std::is_same_v<T, float>  ? FixpipeType::kFloat
         : std::is_same_v<T, half> ? FixpipeType::kHalf
                                   : FixpipeType::kBfloat16;
}

template <typename T, typename U, template <typename> typename Dst>
void StartFixpipe(const SourceLocation& where, const Dst<T>& dst,
                  const AscendC::LocalTensor<U>& src, const AscendC::FixpipeParamsV220& params,
                  const AscendC::FixpipeConfig& config) {
  const Call call{"Fixpipe", Pipe::kFix, where};
  RequireType<U, float>(call, "src");
  const FixpipeType type = CheckedFixpipeType<T>(call, params.quantPre);
  IssueFixpipe(call, OperandOf(dst), OperandOf(src), params,
               config.format == AscendC::CO2Layout::ROW_MAJOR, type, AtomicTypeOf<T>());
}

}  // namespace sfmla::sim

namespace AscendC {

// mSize rows and nSize columns of an accumulator whose block columns are srcStride x 16 elements
// apart. Row-major: rows dstStride elements apart, ndNum matrices srcNdStride x 1024 B and
// dstNdStride elements apart. Nz: block columns of 16 (isChannelSplit, float: 8) elements dstStride
// x 32 B apart, rows behind each other. quantPre must name the conversion of the destination type:
// NoQuant float, F322F16 half, F322BF16 bfloat16_t, rounded to nearest even. unitFlag 0, 2 or 3 as
// in Mmad. Writes to GM obey SetAtomicAdd.
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& params,
             const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartFixpipe(where, dst, src, params, config);
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& params,
             const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartFixpipe(where, dst, src, params, config);
}

}  // namespace AscendC
