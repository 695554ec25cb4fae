// SPDX-License-Identifier: Apache-2.0
// Element types of vector instructions: names for fault texts, and arithmetic. A half is computed
// in float32 and rounded once, which equals exact arithmetic rounded to half for the four basic
// operations; integers wrap around.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "sim/ascendc/half.h"
#include "sim/contracts/common.h"

namespace sfmla::sim {

template <typename T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, half>) return "half";
  if constexpr (std::is_same_v<T, bfloat16_t>) return "bfloat16_t";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, int8_t>) return "int8_t";
  if constexpr (std::is_same_v<T, uint8_t>) return "uint8_t";
  if constexpr (std::is_same_v<T, int16_t>) return "int16_t";
  if constexpr (std::is_same_v<T, uint16_t>) return "uint16_t";
  if constexpr (std::is_same_v<T, int32_t>) return "int32_t";
  if constexpr (std::is_same_v<T, uint32_t>) return "uint32_t";
  if constexpr (std::is_same_v<T, int64_t>) return "int64_t";
  if constexpr (std::is_same_v<T, uint64_t>) return "uint64_t";
  return "unknown";
}

// T must be one of Allowed on this architecture.
template <typename T, typename... Allowed>
void RequireType(const Call& call, const char* operand) {
  if constexpr (!(std::is_same_v<T, Allowed> || ...)) {
    std::string names;
    ((names += (names.empty() ? "" : " or ") + std::string(TypeName<Allowed>())), ...);
    Refuse(call, operand, ": dtype ", TypeName<T>(), ", must be ", names);
  }
}

// The type in which an element is computed.
template <typename T>
using Wide =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
                           std::is_same_v<T, float>,
                       float, std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>>;

template <typename T, typename Op>
auto Elementwise(Op op) {
  return [op](auto... elements) { return static_cast<T>(op(static_cast<Wide<T>>(elements)...)); };
}

}  // namespace sfmla::sim
