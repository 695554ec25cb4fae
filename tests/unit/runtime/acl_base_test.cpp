// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "acl/acl_base.h"

namespace {

// IEEE half to float by bit arithmetic, for finite values.
float Widen(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31;
  const int exponent = half >> 10 & 0x1F;
  const uint32_t mantissa = half & 0x3FF;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) / 16777216.0f;
    return sign != 0 ? -value : value;
  }
  const uint32_t bits = sign | static_cast<uint32_t>(exponent + 112) << 23 | mantissa << 13;
  float out = 0;
  std::memcpy(&out, &bits, sizeof(out));
  return out;
}

}  // namespace

TEST_CASE("every finite half survives the way to float and back") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00) continue;
    if (aclFloat16ToFloat(half) != Widen(half)) ++wrong;
    if (aclFloatToFloat16(Widen(half)) != half) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("between two halves the nearest wins, in the middle the even one") {
  int wrong = 0;
  for (uint16_t half = 0; half < 0x7BFF; ++half) {
    const auto next = static_cast<uint16_t>(half + 1);
    const float low = Widen(half);
    const float high = Widen(next);
    const float middle = (low + high) / 2;
    if (aclFloatToFloat16(middle) != (half % 2 == 0 ? half : next)) ++wrong;
    if (aclFloatToFloat16(std::nextafter(middle, low)) != half) ++wrong;
    if (aclFloatToFloat16(std::nextafter(middle, high)) != next) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("conversions saturate as the platform does") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(aclFloatToFloat16(kInfinity) == 0x7BFF);
  CHECK(aclFloatToFloat16(-kInfinity) == 0xFBFF);
  CHECK(aclFloatToFloat16(std::nanf("")) == 0x7BFF);
  CHECK(aclFloatToFloat16(65519.0f) == 0x7BFF);
  CHECK(aclFloatToFloat16(1e30f) == 0x7BFF);
  CHECK(aclFloatToFloat16(-0.0f) == 0x8000);
  CHECK(aclFloat16ToFloat(0x7C00) == 65536.0f);
  CHECK(aclFloat16ToFloat(0xFC00) == -65536.0f);
  CHECK(aclFloat16ToFloat(0x7E00) == 98304.0f);
}

TEST_CASE("element sizes follow the platform's table") {
  CHECK(aclDataTypeSize(ACL_FLOAT) == 4);
  CHECK(aclDataTypeSize(ACL_BF16) == 2);
  CHECK(aclDataTypeSize(ACL_INT64) == 8);
  CHECK(aclDataTypeSize(ACL_COMPLEX128) == 16);
  CHECK(aclDataTypeSize(ACL_STRING) == 0);
  CHECK(aclDataTypeSize(ACL_DT_UNDEFINED) == 0);
  CHECK(aclDataTypeSize(ACL_INT4) == 1);
  CHECK(aclDataTypeSize(ACL_FLOAT4_E2M1) == 8);
  CHECK(aclDataTypeSize(static_cast<aclDataType>(5)) == 8);
}

TEST_CASE("the chip is named plainly") { CHECK(std::strcmp(aclrtGetSocName(), "HostCPU") == 0); }
