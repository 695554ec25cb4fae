// SPDX-License-Identifier: Apache-2.0
// Calls that only set registers of the scalar unit. Instructions read them when they are issued, so
// no pipe has to be waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "sim/ascendc/checked.h"
#include "sim/ascendc/half.h"
#include "sim/ascendc/types.h"
#include "sim/contracts/common.h"
#include "sim/core.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// The atomic type of an element type, if it has one.
template <typename T>
constexpr std::optional<ScalarState::AtomicType> AtomicTypeOf() {
  using Type = ScalarState::AtomicType;
  if constexpr (std::is_same_v<T, float>) return Type::kFloat;
  if constexpr (std::is_same_v<T, half>) return Type::kHalf;
  if constexpr (std::is_same_v<T, bfloat16_t>) return Type::kBfloat16;
  if constexpr (std::is_same_v<T, int32_t>) return Type::kInt32;
  if constexpr (std::is_same_v<T, int16_t>) return Type::kInt16;
  if constexpr (std::is_same_v<T, int8_t>) return Type::kInt8;
  return std::nullopt;
}

// dst[i] += src[i] for `bytes` bytes of elements; 16-bit floats are added in float32 and rounded to
// nearest even, integers wrap around.
void AddElements(ScalarState::AtomicType type, std::byte* dst, const std::byte* src, int64_t bytes);

// The atomic mode that a write to GM of elements of type `found` is issued under. An addition in
// another type than the one that was set is a fault.
bool AtomicAddIsOn(const Call& call, std::optional<ScalarState::AtomicType> found);

// mask[0] holds elements 0..63, mask[1] elements 64..127; in counter mode mask[0] is their number.
void SetMaskRegister(uint64_t high, uint64_t low);
void SetMaskCounter(bool counts);

}  // namespace sfmla::sim

namespace AscendC {

// Until SetAtomicNone, writes of MTE3 and FIX to GM add to what is there.
template <typename T>
void SetAtomicAdd() {
  constexpr auto type = sfmla::sim::AtomicTypeOf<T>();
  static_assert(type.has_value(), "SetAtomicAdd has no such element type");
  sfmla::sim::CurrentCore().scalar_state().atomic = sfmla::sim::ScalarState::Atomic::kAdd;
  sfmla::sim::CurrentCore().scalar_state().atomic_type = *type;
}
inline void SetAtomicNone() {
  sfmla::sim::CurrentCore().scalar_state().atomic = sfmla::sim::ScalarState::Atomic::kNone;
}
inline void DisableDmaAtomic() { SetAtomicNone(); }

// The mask of later vector calls with isSetMask = false. NORMAL: a bit per element; COUNTER: `low`
// elements.
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(const uint64_t high, const uint64_t low) {
  sfmla::sim::SetMaskRegister(high, low);
}
// The first `count` elements; COUNTER: of the whole call, NORMAL: of each repeat.
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t count) {
  const auto bits = [](int32_t n) {
    return n <= 0 ? 0 : n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  };
  if constexpr (mode == MaskMode::COUNTER) {
    sfmla::sim::SetMaskRegister(0, static_cast<uint64_t>(count));
  } else {
    sfmla::sim::SetMaskRegister(bits(count - 64), bits(count));
  }
}
inline void SetMaskCount() { sfmla::sim::SetMaskCounter(true); }
inline void SetMaskNorm() { sfmla::sim::SetMaskCounter(false); }
inline void ResetMask() { sfmla::sim::SetMaskRegister(~uint64_t{0}, ~uint64_t{0}); }

// Registers of LoadData 3D, for calls that do not set them. pad: left, right, top, bottom.
inline void SetFmatrix(sfmla::sim::U16 height, sfmla::sim::U16 width, const sfmla::sim::U8 pad[4]) {
  auto& load3d = sfmla::sim::CurrentCore().scalar_state().load3d;
  load3d.fmatrix_set = true;
  load3d.l1_height = height;
  load3d.l1_width = width;
  for (int side = 0; side < 4; ++side) load3d.pad[side] = pad[side];
}
template <typename T>
void SetLoadDataPaddingValue(const T value) {
  auto& load3d = sfmla::sim::CurrentCore().scalar_state().load3d;
  load3d.padding_set = true;
  load3d.padding_bits = 0;
  std::memcpy(&load3d.padding_bits, &value, sizeof(T));
}

}  // namespace AscendC
