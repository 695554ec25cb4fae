// SPDX-License-Identifier: Apache-2.0
// 64-bit sizes: rounding up, and products and sums that notice when they would wrap. What a caller
// gives is multiplied with CheckedMul until it is known to be a real tensor.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace sfmla {

constexpr int64_t CeilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
constexpr int64_t AlignUp(int64_t value, int64_t alignment) {
  return CeilDiv(value, alignment) * alignment;
}

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace sfmla
