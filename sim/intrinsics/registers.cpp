// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/registers.h"

namespace sfmla::sim {
namespace {

using AtomicType = ScalarState::AtomicType;

const char* AtomicTypeName(AtomicType type) {
  constexpr const char* kNames[] = {"float", "half", "bfloat16_t", "int32_t", "int16_t", "int8_t"};
  return kNames[static_cast<int>(type)];
}

template <typename T>
void Add(std::byte* dst, const std::byte* src, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += int64_t{sizeof(T)}) {
    T sum;
    T term;
    std::memcpy(&sum, dst + i, sizeof(T));
    std::memcpy(&term, src + i, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      sum = static_cast<T>(int64_t{sum} + term);
    } else {
      sum = T(static_cast<float>(sum) + static_cast<float>(term));
    }
    std::memcpy(dst + i, &sum, sizeof(T));
  }
}

}  // namespace

void AddElements(AtomicType type, std::byte* dst, const std::byte* src, int64_t bytes) {
  switch (type) {
    case AtomicType::kFloat:
      return Add<float>(dst, src, bytes);
    case AtomicType::kHalf:
      return Add<half>(dst, src, bytes);
    case AtomicType::kBfloat16:
      return Add<bfloat16_t>(dst, src, bytes);
    case AtomicType::kInt32:
      return Add<int32_t>(dst, src, bytes);
    case AtomicType::kInt16:
      return Add<int16_t>(dst, src, bytes);
    case AtomicType::kInt8:
      return Add<int8_t>(dst, src, bytes);
  }
}

bool AtomicAddIsOn(const Call& call, std::optional<AtomicType> found) {
  const ScalarState& state = CurrentCore().scalar_state();
  if (state.atomic == ScalarState::Atomic::kNone) return false;
  if (found != state.atomic_type) {
    Refuse(call, "dst: dtype ", found ? AtomicTypeName(*found) : "without atomic addition",
           ", must be ", AtomicTypeName(state.atomic_type), " as in SetAtomicAdd");
  }
  return true;
}

void SetMaskRegister(uint64_t high, uint64_t low) {
  ScalarState& state = CurrentCore().scalar_state();
  state.mask[0] = low;
  state.mask[1] = high;
}

void SetMaskCounter(bool counts) { CurrentCore().scalar_state().counter_mode = counts; }

}  // namespace sfmla::sim
