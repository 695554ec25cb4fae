// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/compare_select.h"

namespace sfmla::sim {

int64_t WholeRounds(const Call& call, int64_t bytes) {
  if (bytes % kRepeatBytes != 0) {
    Refuse(call, "count: ", bytes, " bytes, must be a multiple of ", kRepeatBytes);
  }
  return bytes / kRepeatBytes;
}

void CheckCompareMode(const Call& call, bool is_int32, AscendC::CMPMODE mode) {
  if (is_int32 && mode != AscendC::CMPMODE::EQ) {
    Refuse(call, "cmpMode: ", static_cast<int>(mode), " with int32_t, must be EQ (2)");
  }
}

void CheckSelectMode(const Call& call, AscendC::SELMODE mode, bool has_scalar) {
  const bool is_scalar_mode = mode == AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE;
  if (is_scalar_mode == has_scalar) return;
  Refuse(call, "selMode: ", static_cast<int>(mode), " with a ", has_scalar ? "scalar" : "tensor",
         " as src1, must be ",
         has_scalar ? "VSEL_TENSOR_SCALAR_MODE (1)"
                    : "VSEL_CMPMASK_SPR (0) or VSEL_TENSOR_TENSOR_MODE (2)");
}

int64_t SelectedBits(const Lanes& lanes, bool restarts) {
  const auto end_of = [&](const LaneMask& mask) {
    return mask.high != 0 ? 128 - std::countl_zero(mask.high) : 64 - std::countl_zero(mask.low);
  };
  const auto end = std::min<int64_t>(end_of(lanes.last_mask), lanes.per_repeat);
  if (restarts) {
    return lanes.repeats > 1 ? std::min<int64_t>(end_of(lanes.mask), lanes.per_repeat) : end;
  }
  return (lanes.repeats - 1) * lanes.per_repeat + end;
}

void CheckBitOperand(const Call& call, const Argument& argument, const Access& bits,
                     const std::vector<Access>& others) {
  RequireSpace(call, argument, {Space::kUb});
  RequireAligned(call, argument, kBlockBytes);
  RequireInside(call, argument, bits);
  for (const Access& other : others) {
    if (other.writes() != bits.writes() && Overlap(bits, other)) {
      Refuse(call, argument.name, ": shares bytes with ", other.operand, ", must not");
    }
  }
}

}  // namespace sfmla::sim
