// SPDX-License-Identifier: Apache-2.0
// Floating point conversions with the rounding modes of Cast and Fixpipe, on bit patterns, so that
// the result depends on no rounding mode or instruction set of the host. Overflow follows IEEE 754
// (the Inf/NaN mode that A2 and A3 document as their default): a finite value past the largest one
// becomes infinity in the modes that round away from zero there, the largest one in the others.
// NaN stays NaN; the payload is not promised.
#pragma once

#include <cstdint>

#include "sim/ascendc/half.h"

namespace sfmla::sim {

enum class Rounding : uint8_t {
  kNearestEven,
  kFloor,
  kCeil,
  kNearestAway,  // halves away from zero
  kTruncate,
  kOdd,  // an inexact result gets an odd last digit
};

half RoundToHalf(float value, Rounding rounding);
bfloat16_t RoundToBfloat16(float value, Rounding rounding);

// To a whole number of the same type.
float RoundToWhole(float value, Rounding rounding);

// To an integer, saturated to [lowest, highest]; NaN becomes 0.
int64_t IntegerOf(float value, Rounding rounding, int64_t lowest, int64_t highest);

// An integer to float32, rounded as asked.
float FloatOfInteger(int64_t value, Rounding rounding);

}  // namespace sfmla::sim
