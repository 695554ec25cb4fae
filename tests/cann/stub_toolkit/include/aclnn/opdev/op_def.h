// SPDX-License-Identifier: Apache-2.0
// Stub: OP_TYPE_REGISTER declares the id that the launch macros name.
#pragma once

#include <cstdint>

namespace op {
uint32_t OpTypeId(const char* name);
}  // namespace op

#define OP_TYPE_REGISTER(kernel_name) \
  static uint32_t kernel_name##OpTypeId() { return op::OpTypeId(#kernel_name); }
