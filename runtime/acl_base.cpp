// SPDX-License-Identifier: Apache-2.0
// C functions that need neither device nor context.
#include <algorithm>
#include <cmath>

#include "acl/acl_base_rt.h"
#include "aclnn/opdev/fp16_t.h"
#include "runtime/device.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

constexpr aclFloat16 kLargestHalf = 0x7BFF;  // 65504

}  // namespace

size_t aclDataTypeSize(aclDataType dataType) { return PlatformElementSize(dataType); }

// The exponent that IEEE keeps for infinities and NaN is read as an ordinary one: that is the
// platform's convention, and gives 65536 and 98304.
float aclFloat16ToFloat(aclFloat16 value) {
  if ((value & 0x7C00) != 0x7C00) return op::fp16_t(value).toFloat();
  const float magnitude = (value & 0x3FF) == 0 ? 65536.0f : 98304.0f;
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  if (std::isnan(value)) return kLargestHalf;
  return op::fp16_t(std::clamp(value, -65504.0f, 65504.0f)).val;
}

const char* aclrtGetSocName() { return CurrentSoc().soc_name.data(); }
