// SPDX-License-Identifier: Apache-2.0
// Every rounding mode against its definition: the neighbours of a value among all numbers of the
// narrow type, and which of the two the mode picks.
#include "sim/intrinsics/rounding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sfmla::sim::test {
namespace {

constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kFloor,    Rounding::kCeil,
                               Rounding::kNearestAway, Rounding::kTruncate, Rounding::kOdd};

struct Number {
  double value;
  bool is_even;
};

// All numbers >= 0 of a type with these fields, and the power of two behind the largest, which
// stands for infinity.
std::vector<Number> Numbers(int mantissa_bits, int exponent_bits) {
  std::vector<Number> numbers;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int steps = 1 << mantissa_bits;
  for (int exponent = 0; exponent < (1 << exponent_bits) - 1; ++exponent) {
    for (int digits = 0; digits < steps; ++digits) {
      const double significand = exponent == 0 ? digits : steps + digits;
      const int power = std::max(exponent, 1) - bias - mantissa_bits;
      numbers.push_back({std::ldexp(significand, power), digits % 2 == 0});
    }
  }
  numbers.push_back({std::ldexp(1.0, bias + 1), true});
  return numbers;
}

// Which of two neighbours `value` becomes: true for the upper one. Values are magnitudes.
bool PicksUpper(double value, const Number& below, const Number& above, bool negative,
                Rounding mode) {
  const double to_below = value - below.value;
  const double to_above = above.value - value;
  switch (mode) {
    case Rounding::kNearestEven:
      return to_above < to_below || (to_above == to_below && above.is_even);
    case Rounding::kFloor:
      return negative;
    case Rounding::kCeil:
      return !negative;
    case Rounding::kNearestAway:
      return to_above <= to_below;
    case Rounding::kTruncate:
      return false;
    case Rounding::kOdd:
      return !above.is_even;
  }
  return false;
}

double Rounded(const std::vector<Number>& numbers, float value, Rounding mode) {
  const double magnitude = std::fabs(static_cast<double>(value));
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), magnitude,
                                      [](double x, const Number& n) { return x < n.value; });
  const bool negative = std::signbit(value);
  double result = 0;
  if (above == numbers.end()) {  // past the power of two behind the largest
    const bool to_infinity = mode == Rounding::kNearestEven || mode == Rounding::kNearestAway ||
                             (mode == Rounding::kFloor && negative) ||
                             (mode == Rounding::kCeil && !negative);
    result = to_infinity ? INFINITY : numbers[numbers.size() - 2].value;
  } else {
    const Number& below = *(above - 1);
    const bool exact = below.value == magnitude;
    const bool upper = !exact && PicksUpper(magnitude, below, *above, negative, mode);
    result = upper ? above->value : below.value;
    if (result == numbers.back().value) result = INFINITY;
  }
  return negative ? -result : result;
}

// Random bit patterns, and values close to numbers and to the middle between them.
std::vector<float> Samples(const std::vector<Number>& numbers) {
  std::vector<float> samples;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(value)) samples.push_back(value);
  }
  for (size_t i = 1; i < numbers.size(); i += 7) {
    const auto middle = static_cast<float>((numbers[i - 1].value + numbers[i].value) / 2);
    for (const float value : {static_cast<float>(numbers[i].value), middle,
                              std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      if (std::isfinite(value)) samples.push_back(value);
      if (std::isfinite(value)) samples.push_back(-value);
    }
  }
  return samples;
}

TEST_CASE("float32 to half: all modes pick the neighbour their definition names") {
  const std::vector<Number> numbers = Numbers(10, 5);
  for (const float value : Samples(numbers)) {
    for (const Rounding mode : kModes) {
      const double found = static_cast<float>(RoundToHalf(value, mode));
      const double wanted = Rounded(numbers, value, mode);
      CHECK_MESSAGE(found == wanted, value, " mode ", static_cast<int>(mode));
      CHECK(std::signbit(found) == std::signbit(value));
    }
  }
}

TEST_CASE("float32 to bfloat16: all modes pick the neighbour their definition names") {
  const std::vector<Number> numbers = Numbers(7, 8);
  for (const float value : Samples(numbers)) {
    for (const Rounding mode : kModes) {
      const double found = static_cast<float>(RoundToBfloat16(value, mode));
      CHECK_MESSAGE(found == Rounded(numbers, value, mode), value, " mode ",
                    static_cast<int>(mode));
    }
  }
}

TEST_CASE("the types' own conversions agree with round to nearest even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const half number = half::FromBits(static_cast<uint16_t>(bits));
    const auto value = static_cast<float>(number);
    if (value != value) continue;
    CHECK(RoundToHalf(value, Rounding::kTruncate).bits == bits);
    CHECK(half(value).bits == bits);
  }
  for (const float value : Samples(Numbers(10, 5))) {
    CHECK(half(value).bits == RoundToHalf(value, Rounding::kNearestEven).bits);
    CHECK(bfloat16_t(value).bits == RoundToBfloat16(value, Rounding::kNearestEven).bits);
  }
}

TEST_CASE("infinity and NaN stay what they are") {
  for (const Rounding mode : kModes) {
    CHECK(static_cast<float>(RoundToHalf(INFINITY, mode)) == INFINITY);
    CHECK(static_cast<float>(RoundToBfloat16(-INFINITY, mode)) == -INFINITY);
    CHECK(std::isnan(static_cast<float>(RoundToHalf(NAN, mode))));
    CHECK(std::isnan(static_cast<float>(RoundToBfloat16(NAN, mode))));
  }
}

TEST_CASE("whole numbers: the C library's functions are the definition") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(-40.0f, 40.0f);
  std::vector<float> samples = {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0x1p23f, 8388607.5f};
  for (int i = 0; i < 2000; ++i) samples.push_back(values(random));
  for (const float x : samples) {
    CHECK(RoundToWhole(x, Rounding::kNearestEven) == std::nearbyint(x));
    CHECK(RoundToWhole(x, Rounding::kFloor) == std::floor(x));
    CHECK(RoundToWhole(x, Rounding::kCeil) == std::ceil(x));
    CHECK(RoundToWhole(x, Rounding::kNearestAway) == std::round(x));
    CHECK(RoundToWhole(x, Rounding::kTruncate) == std::trunc(x));
    CHECK(IntegerOf(x, Rounding::kFloor, INT32_MIN, INT32_MAX) == std::floor(x));
    CHECK(IntegerOf(x, Rounding::kNearestAway, INT32_MIN, INT32_MAX) == std::round(x));
  }
}

TEST_CASE("integers: saturation, NaN, and the way back") {
  CHECK(IntegerOf(3e9f, Rounding::kTruncate, INT32_MIN, INT32_MAX) == INT32_MAX);
  CHECK(IntegerOf(-INFINITY, Rounding::kTruncate, INT16_MIN, INT16_MAX) == INT16_MIN);
  CHECK(IntegerOf(1e30f, Rounding::kTruncate, INT32_MIN, INT32_MAX) == INT32_MAX);
  CHECK(IntegerOf(NAN, Rounding::kNearestEven, INT32_MIN, INT32_MAX) == 0);
  CHECK(FloatOfInteger(16777217, Rounding::kNearestEven) == 16777216.0f);
  CHECK(FloatOfInteger(16777217, Rounding::kCeil) == 16777218.0f);
  CHECK(FloatOfInteger(-16777217, Rounding::kFloor) == -16777218.0f);
  CHECK(FloatOfInteger(16777219, Rounding::kNearestAway) == 16777220.0f);
  CHECK(FloatOfInteger(INT64_MIN, Rounding::kNearestEven) == -0x1p63f);
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<int64_t>(random()) >> (i % 63);
    CHECK(FloatOfInteger(value, Rounding::kNearestEven) == static_cast<float>(value));
  }
}

}  // namespace
}  // namespace sfmla::sim::test
