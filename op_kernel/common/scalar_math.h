// SPDX-License-Identifier: Apache-2.0
// Small integer arithmetic for headers that a kernel shares with the host. Sizes only: nothing here
// checks for overflow.
#pragma once

#include <cstdint>

#include "op_kernel/common/device_macros.h"

namespace sfmla {

SFMLA_DEVICE constexpr int64_t LesserOf(int64_t a, int64_t b) { return b < a ? b : a; }
SFMLA_DEVICE constexpr int64_t GreaterOf(int64_t a, int64_t b) { return a < b ? b : a; }
SFMLA_DEVICE constexpr int64_t Within(int64_t value, int64_t lowest, int64_t highest) {
  return LesserOf(GreaterOf(value, lowest), highest);
}
// Of counts: a >= 0, b > 0.
SFMLA_DEVICE constexpr int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
SFMLA_DEVICE constexpr int64_t MultipleUp(int64_t a, int64_t b) { return QuotientUp(a, b) * b; }

}  // namespace sfmla
