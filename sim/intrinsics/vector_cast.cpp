// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/vector_cast.h"

namespace sfmla::sim {

Rounding RoundingOf(AscendC::RoundMode mode) {
  using AscendC::RoundMode;
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return Rounding::kFloor;
    case RoundMode::CAST_CEIL:
      return Rounding::kCeil;
    case RoundMode::CAST_ROUND:
      return Rounding::kNearestAway;
    case RoundMode::CAST_TRUNC:
      return Rounding::kTruncate;
    case RoundMode::CAST_ODD:
      return Rounding::kOdd;
    default:
      return Rounding::kNearestEven;
  }
}

}  // namespace sfmla::sim
