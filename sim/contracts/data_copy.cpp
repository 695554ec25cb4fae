// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/data_copy.h"

#include <algorithm>

#include "base/checked_math.h"
#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {
namespace {

constexpr int64_t kMaxBlocks = 4095;
constexpr int64_t kMaxBurstBytes = 2097151;  // 21 bits
constexpr int64_t kMaxNzStride = 16384;

// Whether row * row_stride + block * block_stride is the same for two pairs (row, block).
bool BlocksCollide(int64_t rows, int64_t row_stride, int64_t blocks, int64_t block_stride) {
  if (block_stride > (rows - 1) * row_stride || row_stride > (blocks - 1) * block_stride) {
    return false;
  }
  std::vector<int64_t> offsets;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t block = 0; block < blocks; ++block) {
      offsets.push_back(row * row_stride + block * block_stride);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

}  // namespace

Pipe PipeOfCopy(const char* name, const SourceLocation& where, const Operand& dst,
                const Operand& src) {
  const auto is = [&](Space from, Space to) { return src.space == from && dst.space == to; };
  if (is(Space::kGm, Space::kUb) || is(Space::kGm, Space::kL1)) return Pipe::kMte2;
  if (is(Space::kUb, Space::kGm) || is(Space::kL1, Space::kGm)) return Pipe::kMte3;
  if (is(Space::kUb, Space::kUb)) return Pipe::kV;
  Refuse({name, Pipe::kS, where}, "dst: lies in ", SpaceName(dst.space), " with src in ",
         SpaceName(src.space), ", must be GM -> UB, GM -> L1, UB -> GM, L1 -> GM or UB -> UB");
}

void CheckCopy(const Call& call, const Access& dst, const Operand& dst_operand, const Access& src,
               const Operand& src_operand) {
  if (dst.space != Space::kGm) RequireAligned(call, {"dst", dst_operand}, kBlockBytes);
  if (src.space != Space::kGm) RequireAligned(call, {"src", src_operand}, kBlockBytes);
  RequireInside(call, {"dst", dst_operand}, dst);
  RequireInside(call, {"src", src_operand}, src);
  if (Overlap(dst, src)) Refuse(call, "dst: shares bytes with src, must not");
}

void CheckBlocks(const Call& call, const AscendC::DataCopyParams& params) {
  RequireRange(call, "blockCount", params.blockCount, 1, kMaxBlocks);
  RequireRange(call, "blockLen", params.blockLen, 1, UINT16_MAX);
}

void CheckBursts(const Call& call, const AscendC::DataCopyExtParams& params) {
  RequireRange(call, "blockCount", params.blockCount, 1, kMaxBlocks);
  RequireRange(call, "blockLen", params.blockLen, 1, kMaxBurstBytes);
}

void CheckPadding(const Call& call, const Argument& dst, const PadPlan& pad) {
  RequireSpace(call, dst, {Space::kUb});
  if (pad.left > kBlockBytes) {
    Refuse(call, "leftPadding: ", pad.left, " bytes, must be 32 or less");
  }
  if (pad.right > kBlockBytes) {
    Refuse(call, "rightPadding: ", pad.right, " bytes, must be 32 or less");
  }
}

void CheckNdToNz(const Call& call, const Argument& dst, const AscendC::Nd2NzParams& params,
                 int64_t element_bytes) {
  RequireSpace(call, dst, {Space::kL1});
  RequireAligned(call, dst, kBlockBytes);
  RequireRange(call, "ndNum", params.ndNum, 0, kMaxBlocks);
  RequireRange(call, "nValue", params.nValue, 0, kMaxNzStride);
  RequireRange(call, "srcDValue", params.srcDValue, 1, UINT16_MAX);
  RequireRange(call, "dstNzC0Stride", params.dstNzC0Stride, 1, kMaxNzStride);
  RequireRange(call, "dstNzNStride", params.dstNzNStride, 1, kMaxNzStride);
  if (params.ndNum > 1) {
    RequireRange(call, "dstNzMatrixStride", params.dstNzMatrixStride, 1, UINT16_MAX);
    RequireMultiple(call, "dstNzMatrixStride", params.dstNzMatrixStride,
                    kBlockBytes / element_bytes);
  }
  const int64_t blocks = CeilDiv(params.dValue * element_bytes, kBlockBytes);
  if (params.nValue != 0 && blocks > 1 &&
      BlocksCollide(params.nValue, params.dstNzNStride, blocks, params.dstNzC0Stride)) {
    Refuse(call, "dstNzC0Stride: ", uint16_t{params.dstNzC0Stride}, " puts blocks of ",
           uint16_t{params.nValue}, " rows on each other, must keep them apart");
  }
}

}  // namespace sfmla::sim
