// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sfmla::sim {
namespace {

struct Format {
  int mantissa_bits;
  int exponent_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  constexpr uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
};
constexpr Format kHalf{10, 5};
constexpr Format kBfloat16{7, 8};
constexpr Format kFloat{23, 8};

// magnitude / 2^dropped_bits as an integer, for a number whose sign is `negative`.
uint64_t RoundedShift(uint64_t magnitude, int dropped_bits, bool negative, Rounding rounding) {
  if (dropped_bits <= 0) return magnitude << -dropped_bits;
  // Beyond 62 bits everything is below one half: only whether it is zero matters.
  const int shift = std::min(dropped_bits, 62);
  const uint64_t kept = magnitude >> shift;
  const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  if (rest == 0) return kept;
  bool up = false;
  switch (rounding) {
    case Rounding::kNearestEven:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Rounding::kFloor:
      up = negative;
      break;
    case Rounding::kCeil:
      up = !negative;
      break;
    case Rounding::kNearestAway:
      up = rest >= half;
      break;
    case Rounding::kTruncate:
      break;
    case Rounding::kOdd:
      up = (kept & 1) == 0;
      break;
  }
  return kept + (up ? 1 : 0);
}

// What a finite magnitude past the largest number becomes.
uint32_t Overflow(const Format& to, bool negative, Rounding rounding) {
  const bool stays_finite = rounding == Rounding::kTruncate || rounding == Rounding::kOdd ||
                            (rounding == Rounding::kFloor && !negative) ||
                            (rounding == Rounding::kCeil && negative);
  return to.infinity() - (stays_finite ? 1 : 0);
}

// significand * 2^exponent in the format; 2^62 > significand > 0.
uint32_t Encode(uint64_t significand, int exponent, bool negative, Rounding rounding,
                const Format& to) {
  const int top = 63 - std::countl_zero(significand) + exponent;  // value in [2^top, 2^(top+1))
  const int lowest_top = 1 - to.bias();
  const int unit = std::max(top, lowest_top) - to.mantissa_bits;
  const uint64_t digits = RoundedShift(significand, unit - exponent, negative, rounding);
  // A carry out of the digits moves into the exponent by itself; subnormals start at biased 0.
  const int64_t biased = std::max(top, lowest_top) + to.bias() - 1;
  const uint64_t bits = digits + (static_cast<uint64_t>(biased) << to.mantissa_bits);
  const uint32_t magnitude =
      bits >= to.infinity() ? Overflow(to, negative, rounding) : static_cast<uint32_t>(bits);
  return magnitude | (negative ? to.sign() : 0);
}

struct Parts {
  bool negative;
  uint64_t significand;
  int exponent;  // of the last digit
};

Parts PartsOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t biased = (bits >> 23) & 0xff;
  const uint32_t digits = bits & 0x7fffff;
  return {bits >> 31 != 0, biased == 0 ? digits : digits | 0x800000,
          std::max<int>(static_cast<int>(biased), 1) - 150};
}

uint16_t Narrow(float value, Rounding rounding, const Format& to) {
  const uint32_t sign = std::signbit(value) ? to.sign() : 0;
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | to.infinity() | (1u << (to.mantissa_bits - 1)));
  }
  if (std::isinf(value)) return static_cast<uint16_t>(sign | to.infinity());
  if (value == 0) return static_cast<uint16_t>(sign);
  const Parts parts = PartsOf(value);
  return static_cast<uint16_t>(
      Encode(parts.significand, parts.exponent, parts.negative, rounding, to));
}

}  // namespace

half RoundToHalf(float value, Rounding rounding) {
  return half::FromBits(Narrow(value, rounding, kHalf));
}

bfloat16_t RoundToBfloat16(float value, Rounding rounding) {
  return bfloat16_t::FromBits(Narrow(value, rounding, kBfloat16));
}

float RoundToWhole(float value, Rounding rounding) {
  if (!std::isfinite(value) || std::fabs(value) >= 0x1p23f) return value;
  const Parts parts = PartsOf(value);
  const auto whole = static_cast<float>(
      RoundedShift(parts.significand, -parts.exponent, parts.negative, rounding));
  return parts.negative ? -whole : whole;
}

int64_t IntegerOf(float value, Rounding rounding, int64_t lowest, int64_t highest) {
  if (std::isnan(value)) return 0;
  if (std::fabs(value) >= 0x1p62f) return value < 0 ? lowest : highest;
  const Parts parts = PartsOf(value);
  const auto magnitude = static_cast<int64_t>(
      RoundedShift(parts.significand, -parts.exponent, parts.negative, rounding));
  return std::clamp(parts.negative ? -magnitude : magnitude, lowest, highest);
}

float FloatOfInteger(int64_t value, Rounding rounding) {
  if (value == 0) return 0;
  if (value == std::numeric_limits<int64_t>::min()) return -0x1p63f;
  const bool negative = value < 0;
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int exponent = 0;
  if (magnitude >> 62 != 0) {  // keep what Encode expects; the lost digit stays as a sticky one
    magnitude = magnitude >> 1 | (magnitude & 1);
    exponent = 1;
  }
  return std::bit_cast<float>(Encode(magnitude, exponent, negative, rounding, kFloat));
}

}  // namespace sfmla::sim
