// SPDX-License-Identifier: Apache-2.0
// Brcb on PIPE_V: each of eight elements fills one block of 32 B.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/ascendc/parameters.h"
#include "sim/intrinsics/vector_call.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// Element 8 r + b of src, of element_bytes bytes, fills the block at
// r * repeat_stride + b * block_stride of dst, strides in blocks.
struct BroadcastPlan {
  int64_t repeats, element_bytes, block_stride, repeat_stride;
};
void BroadcastBlocks(std::byte* dst, const std::byte* src, const BroadcastPlan& plan);

void IssueBroadcast(const SourceLocation& where, const Operand& dst, const Operand& src,
                    const BroadcastPlan& plan);

}  // namespace sfmla::sim

namespace AscendC {

// 16- and 32-bit types; repeatTime 0..255; dstBlkStride 0 means 1. Reads 8 * repeatTime elements:
// those behind the rows that count must lie in the tensor, but need no value.
template <typename T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, sfmla::sim::U8 repeatTime,
          const BrcbRepeatParams& repeatParams,
          const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::RequireType<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t>(
      {"Brcb", sfmla::sim::Pipe::kV, where}, "dst");
  const int64_t block_stride = repeatParams.dstBlkStride;
  sfmla::sim::IssueBroadcast(
      where, sfmla::sim::OperandOf(dst), sfmla::sim::OperandOf(src0),
      {repeatTime, sizeof(T), block_stride == 0 ? 1 : block_stride, repeatParams.dstRepStride});
}

}  // namespace AscendC
