// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/load_data.h"

#include "base/checked_math.h"
#include "sim/intrinsics/fractals.h"
#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {
namespace {

void RequireOne(const Call& call, const char* parameter, int64_t value) {
  if (value != 1) {
    Refuse(call, parameter, ": ", value, ", must be 1: only moves of a matrix are emulated");
  }
}

void RequireSameRegister(const Call& call, const char* parameter, int64_t value,
                         int64_t in_register) {
  if (value == 0 || value == in_register) return;
  Refuse(call, parameter, ": ", value, ", but isSetFMatrix is false and FMATRIX holds ",
         in_register);
}

void CheckRegisters(const Call& call, const Load3dCall& load,
                    const ScalarState::Load3d& registers) {
  if (!load.resets.isSetFMatrix) {
    if (!registers.fmatrix_set) Refuse(call, "FMATRIX: was never set, and isSetFMatrix is false");
    RequireSameRegister(call, "l1H", load.params.l1H, registers.l1_height);
    RequireSameRegister(call, "l1W", load.params.l1W, registers.l1_width);
  }
  if (!load.resets.isSetPadding && !registers.padding_set) {
    Refuse(call, "padValue: was never set, and isSetPadding is false");
  }
}

void CheckPointwise(const Call& call, const AscendC::LoadData3DParamsV2<uint8_t>& params) {
  RequireOne(call, "strideW", params.strideW);
  RequireOne(call, "strideH", params.strideH);
  RequireOne(call, "filterW", params.filterW);
  RequireOne(call, "filterH", params.filterH);
  RequireOne(call, "dilationFilterW", params.dilationFilterW);
  RequireOne(call, "dilationFilterH", params.dilationFilterH);
  RequireRange(call, "padList[0]", params.padList[0], 0, 0);
  RequireRange(call, "padList[1]", params.padList[1], 0, 0);
  RequireRange(call, "padList[2]", params.padList[2], 0, 0);
  if (params.enSmallK || params.filterSizeW || params.filterSizeH) {
    Refuse(call, "enSmallK, filterSizeW, filterSizeH: set, must be false");
  }
}

}  // namespace

void CheckLoad(const Call& call, const Argument& dst, const Argument& src, const Access& write,
               const Access& read) {
  RequireSpace(call, src, {Space::kL1});
  RequireAligned(call, dst, kFractalBytes);
  RequireAligned(call, src, kBlockBytes);
  RequireInside(call, dst, write);
  RequireInside(call, src, read);
}

void CheckLoad2d(const Call& call, const AscendC::LoadData2DParams& params, int64_t element_bytes) {
  RequireRange(call, "sid", params.sid, 0, 0);
  RequireRange(call, "addrMode", params.addrMode, 0, 1);
  if (params.ifTranspose && element_bytes != 2) {
    Refuse(call, "ifTranspose: set for elements of ", element_bytes, " bytes, must be 2");
  }
}

void CheckLoad3d(const Call& call, const Load3dCall& load, const ScalarState::Load3d& before,
                 const ScalarState::Load3d& after, bool to_l0b) {
  const auto& params = load.params;
  const int64_t c0 = kBlockBytes / load.element_bytes;
  CheckPointwise(call, params);
  CheckRegisters(call, load, before);
  RequireRange(call, "l1H", after.l1_height, 1, INT16_MAX);
  RequireRange(call, "l1W", after.l1_width, 1, INT16_MAX);
  RequireRange(call, "channelSize", params.channelSize, 1, UINT16_MAX);
  RequireRange(call, "mExtension", params.mExtension, 1, UINT16_MAX);
  RequireRange(call, "kExtension", params.kExtension, 1, UINT16_MAX);
  RequireMultiple(call, "mExtension", params.mExtension, kFractalRows);
  RequireMultiple(call, "kExtension", params.kExtension, to_l0b ? kFractalRows : c0);
  RequireMultiple(call, "mStartPt", params.mStartPt, kFractalRows);
  RequireMultiple(call, "kStartPt", params.kStartPt, c0);
  RequireRange(call, "mStartPt + mExtension", params.mStartPt + int64_t{params.mExtension}, 1,
               int64_t{after.l1_height + after.pad[3]} * after.l1_width);
  RequireRange(call, "kStartPt + kExtension", params.kStartPt + int64_t{params.kExtension}, 1,
               AlignUp(params.channelSize, c0));
  if (to_l0b && load.element_bytes != 2) {
    Refuse(call, "dst: elements of ", load.element_bytes, " bytes in L0B, must be 2");
  }
  if (!to_l0b && params.enTranspose) Refuse(call, "enTranspose: set for L0A, must be false");
}

}  // namespace sfmla::sim
