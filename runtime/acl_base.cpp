// SPDX-License-Identifier: Apache-2.0
// C functions that need neither device nor context.
#include <bit>
#include <cmath>
#include <cstdint>

#include "acl/acl_base_rt.h"
#include "runtime/device.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

constexpr uint32_t kHalfMantissaBits = 10;
constexpr uint32_t kHalfExponentMask = 0x1F;
constexpr uint32_t kHalfMantissaMask = 0x3FF;
constexpr int kHalfExponentBias = 15;
constexpr uint16_t kHalfLargest = 0x7BFF;  // 65504
constexpr float kHalfOverflow = 65520.0f;  // rounds to 65536, beyond the largest half
constexpr uint16_t kHalfSign = 0x8000;
constexpr float kHalfSmallestNormal = 0x1p-14f;

}  // namespace

size_t aclDataTypeSize(aclDataType dataType) { return PlatformElementSize(dataType); }

// The exponent that IEEE keeps for infinities and NaN is read as an ordinary one: that is the
// platform's convention, and gives 65536 and 98304.
float aclFloat16ToFloat(aclFloat16 value) {
  const uint32_t exponent = (value >> kHalfMantissaBits) & kHalfExponentMask;
  const uint32_t mantissa = value & kHalfMantissaMask;
  float magnitude = 0.0f;
  if (exponent == kHalfExponentMask) {
    magnitude = mantissa == 0 ? 65536.0f : 98304.0f;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - kHalfExponentBias - 10);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | 1u << kHalfMantissaBits),
                           static_cast<int>(exponent) - kHalfExponentBias - 10);
  }
  return (value & kHalfSign) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  if (std::isnan(value)) return kHalfLargest;
  const uint16_t sign = std::signbit(value) ? kHalfSign : 0;
  const float magnitude = std::fabs(value);
  if (magnitude >= kHalfOverflow) return sign | kHalfLargest;
  // Scaled so that one unit is one step of the result, nearbyint rounds as asked: half to even.
  int exponent = -14;
  if (magnitude >= kHalfSmallestNormal) exponent = std::ilogb(magnitude);
  const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // Adding instead of or-ing lets a mantissa that rounded up carry into the exponent.
  const auto base = static_cast<uint32_t>(exponent + kHalfExponentBias - 1) << kHalfMantissaBits;
  return static_cast<uint16_t>(sign | (base + steps));
}

const char* aclrtGetSocName() { return CurrentSoc().soc_name.data(); }
