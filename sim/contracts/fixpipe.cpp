// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/fixpipe.h"

#include "base/checked_math.h"
#include "sim/intrinsics/fractals.h"
#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {
namespace {

constexpr uint64_t kAccumulatorAlignment = 64;

void CheckRowMajor(const Call& call, const AscendC::FixpipeParamsV220& params) {
  RequireRange(call, "nSize", params.nSize, 1, 4095);
  RequireRange(call, "mSize", params.mSize, 1, 8192);
  RequireRange(call, "ndNum", params.ndNum, 1, UINT16_MAX);
  RequireRange(call, "srcNdStride", params.srcNdStride, 0, 512);
  if (params.isChannelSplit) Refuse(call, "isChannelSplit: set, must be false for row-major");
  if (params.mSize > 1) {
    RequireRange(call, "dstStride", params.dstStride, params.nSize, UINT32_MAX);
  }
  if (params.ndNum > 1) RequireRange(call, "dstNdStride", params.dstNdStride, 1, UINT16_MAX);
}

void CheckNz(const Call& call, const AscendC::FixpipeParamsV220& params, FixpipeType type) {
  const int64_t block_columns =
      params.isChannelSplit ? kAccumulatorColumns / 2 : kAccumulatorColumns;
  if (params.isChannelSplit && type != FixpipeType::kFloat) {
    Refuse(call, "isChannelSplit: set for a 16-bit dst, must be false");
  }
  RequireRange(call, "nSize", params.nSize, 1, UINT16_MAX);
  RequireMultiple(call, "nSize", params.nSize, block_columns);
  RequireRange(call, "mSize", params.mSize, 1, UINT16_MAX);
  if (params.nSize > block_columns) {
    const int64_t block_bytes = params.mSize * block_columns * FixpipeTypeBytes(type);
    RequireRange(call, "dstStride", params.dstStride, CeilDiv(block_bytes, kBlockBytes),
                 UINT32_MAX);
  }
}

}  // namespace

void CheckFixpipe(const Call& call, const AscendC::FixpipeParamsV220& params, bool row_major,
                  FixpipeType type) {
  if (row_major) {
    CheckRowMajor(call, params);
  } else {
    CheckNz(call, params, type);
  }
  if (params.nSize > kAccumulatorColumns) {
    RequireRange(call, "srcStride", params.srcStride, params.mSize, UINT16_MAX);
  }
  if (params.unitFlag != 0) RequireRange(call, "unitFlag", params.unitFlag, 2, 3);
}

void CheckFixpipeOperands(const Call& call, const Argument& dst, const Argument& src,
                          int64_t element_bytes, const std::vector<Access>& accesses) {
  RequireSpace(call, src, {Space::kL0C});
  RequireSpace(call, dst, {Space::kGm, Space::kL1});
  RequireAligned(call, src, kAccumulatorAlignment);
  RequireAligned(call, dst,
                 dst.operand.space == Space::kGm ? static_cast<uint64_t>(element_bytes)
                                                 : static_cast<uint64_t>(kBlockBytes));
  for (const Access& access : accesses) {
    RequireInside(call, access.writes() ? dst : src, access);
  }
}

}  // namespace sfmla::sim
