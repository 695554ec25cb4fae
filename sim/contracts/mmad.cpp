// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/mmad.h"

#include "sim/intrinsics/fractals.h"

namespace sfmla::sim {
namespace {

constexpr int64_t kMaxExtent = 4095;
constexpr uint64_t kAccumulatorAlignment = 1024;

void RequireOff(const Call& call, const char* parameter, bool is_set) {
  if (is_set) Refuse(call, parameter, ": set, must be false: it is not emulated");
}

}  // namespace

void CheckMmad(const Call& call, const AscendC::MmadParams& params) {
  RequireRange(call, "m", params.m, 0, kMaxExtent);
  RequireRange(call, "n", params.n, 0, kMaxExtent);
  RequireRange(call, "k", params.k, 0, kMaxExtent);
  RequireRange(call, "fmOffset", params.fmOffset, 0, 0);
  if (params.unitFlag != 0) RequireRange(call, "unitFlag", params.unitFlag, 2, 3);
  RequireOff(call, "isBias", params.isBias);
  RequireOff(call, "cmatrixSource", params.cmatrixSource);
  RequireOff(call, "enSsparse", params.enSsparse);
  RequireOff(call, "enWinogradA", params.enWinogradA);
  RequireOff(call, "enWinogradB", params.enWinogradB);
  RequireOff(call, "kDirectionAlign", params.kDirectionAlign);
}

void CheckMmadOperands(const Call& call, const Argument& dst, const Argument& left,
                       const Argument& right, const std::vector<Access>& accesses) {
  RequireSpace(call, dst, {Space::kL0C});
  RequireSpace(call, left, {Space::kL0A});
  RequireSpace(call, right, {Space::kL0B});
  RequireAligned(call, dst, kAccumulatorAlignment);
  RequireAligned(call, left, kFractalBytes);
  RequireAligned(call, right, kFractalBytes);
  RequireInside(call, dst, accesses[0]);
  RequireInside(call, left, accesses[1]);
  RequireInside(call, right, accesses[2]);
}

}  // namespace sfmla::sim
