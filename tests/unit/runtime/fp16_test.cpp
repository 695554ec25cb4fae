// SPDX-License-Identifier: Apache-2.0
// op::fp16_t against the definition of the format: all 65536 halves, and every tie between two.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn/opdev/fp16_t.h"

using op::fp16_t;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsFinite(uint16_t bits) { return (bits & 0x7C00) != 0x7C00; }

// The value of a finite half as IEEE 754 defines it.
double ValueOf(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const double fraction = bits & 0x3FF;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t BitsOf(double number) { return fp16_t(number).val; }

}  // namespace

static_assert(std::is_trivially_copyable_v<fp16_t> && std::is_standard_layout_v<fp16_t>);
static_assert(sizeof(fp16_t) == sizeof(aclFloat16) && alignof(fp16_t) == alignof(aclFloat16));

TEST_CASE("every half has its value as a float and comes back as itself") {
  int wrong = 0;
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const fp16_t half(bits);
    if (IsFinite(bits)) {
      wrong += half.toFloat() != ValueOf(bits) || half.toDouble() != ValueOf(bits);
      wrong += std::signbit(half.toFloat()) != (bits >> 15 != 0);
      wrong += fp16_t(half.toFloat()).val != bits || BitsOf(ValueOf(bits)) != bits;
    } else if ((bits & 0x3FF) == 0) {
      wrong += half.toFloat() != (bits >> 15 != 0 ? -kInfinity : kInfinity);
      wrong += fp16_t(half.toFloat()).val != bits;
    } else {
      wrong += !std::isnan(half.toFloat());
      wrong += !std::isnan(fp16_t(half.toFloat()).toFloat());
    }
    wrong += half.IsInf() != (bits == 0x7C00 ? 1 : bits == 0xFC00 ? -1 : 0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two halves the nearest wins, in the middle the even one") {
  int wrong = 0;
  for (uint16_t low = 0; low < 0x7C00; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    // What would follow 65504 is 65536; there infinity stands.
    const double above = IsFinite(high) ? ValueOf(high) : 65536.0;
    const double middle = (ValueOf(low) + above) / 2;
    const uint16_t even = low % 2 == 0 ? low : high;
    for (const uint16_t sign : {uint16_t{0}, uint16_t{0x8000}}) {
      const double factor = sign == 0 ? 1 : -1;
      wrong += BitsOf(factor * middle) != (sign | even);
      wrong += BitsOf(factor * std::nextafter(middle, 0.0)) != (sign | low);
      wrong += BitsOf(factor * std::nextafter(middle, kInfinity)) != (sign | high);
      const auto middle_float = static_cast<float>(factor * middle);
      wrong += fp16_t(middle_float).val != (sign | even);
      wrong += fp16_t(std::nextafter(middle_float, 0.0f)).val != (sign | low);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("numbers at the edges of the format") {
  CHECK(BitsOf(0.0) == 0);
  CHECK(BitsOf(-0.0) == 0x8000);
  CHECK(BitsOf(std::ldexp(1.0, -25)) == 0);  // a tie with 0, which is even
  CHECK(BitsOf(std::numeric_limits<double>::denorm_min()) == 0);
  CHECK(BitsOf(-std::numeric_limits<double>::min()) == 0x8000);
  CHECK(BitsOf(std::numeric_limits<double>::max()) == 0x7C00);
  CHECK(BitsOf(-1e300) == 0xFC00);
  CHECK(BitsOf(kInfinity) == 0x7C00);
  CHECK(std::isnan(fp16_t(kNan).toFloat()));
  CHECK(std::isnan(fp16_t(-std::numeric_limits<float>::quiet_NaN()).toFloat()));
}

TEST_CASE("a number is a number whatever its type, but a constructor takes a uint16_t as bits") {
  const std::vector<fp16_t> ones(3, 1);
  CHECK(ones[2].val == 0x3C00);
  CHECK(fp16_t().val == 0);
  CHECK(fp16_t(-2LL).val == 0xC000);
  CHECK(fp16_t(0.5L).val == 0x3800);
  CHECK(fp16_t(true).val == 0x3C00);
  CHECK(fp16_t(2049).val == fp16_t(2048).val);  // a tie: 2048 and 2050 are neighbours
  CHECK(fp16_t(std::numeric_limits<uint64_t>::max()).IsInf() == 1);
  CHECK(fp16_t(uint16_t{0x3C00}).val == 0x3C00);
  fp16_t half;
  half = uint16_t{3};
  CHECK(half == 3.0f);
  half = 0.1;
  CHECK(half.val == 0x2E66);  // 0.1 = 1638.4 / 2^14
}

TEST_CASE("arithmetic is that of float, rounded when it is stored") {
  fp16_t half = 1.5f;
  CHECK(half + 0.25f == 1.75f);
  CHECK(-half * half == -2.25f);
  CHECK(half < 2);
  CHECK(half != fp16_t(1));
  CHECK(fp16_t(kNan) != fp16_t(kNan));
  CHECK(static_cast<int>(half) == 1);
  CHECK(std::abs(fp16_t(-1.5)) == 1.5f);
  half += 2048.0f;  // 2049.5: the neighbours are 2048 and 2050
  CHECK(half == 2050.0f);
  half -= 50;
  half *= half;
  CHECK(half.IsInf() == 1);
  half = 6;
  half /= 4;
  CHECK(half == 1.5f);
}
