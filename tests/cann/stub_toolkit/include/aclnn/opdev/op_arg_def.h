// SPDX-License-Identifier: Apache-2.0
// Stub: OP_INPUT, OP_OUTPUT and OP_ATTR accept what CANN packs: tensors, and plain values.
#pragma once

#include "aclnn/opdev/common_types.h"

namespace op {

struct OpArgContext {};

struct TensorArg {
  TensorArg(const aclTensor*) {}
};
struct AttributeArg {
  AttributeArg(int64_t) {}
  AttributeArg(float) {}
  AttributeArg(bool) {}
  AttributeArg(const char*) {}
};

template <typename... Tensors>
OpArgContext PackTensors(const Tensors&... tensors) {
  const TensorArg args[] = {TensorArg(tensors)...};
  return (void)args, OpArgContext();
}
template <typename... Values>
OpArgContext PackAttributes(const Values&... values) {
  const AttributeArg args[] = {AttributeArg(values)...};
  return (void)args, OpArgContext();
}

}  // namespace op

#define OP_INPUT(...) op::PackTensors(__VA_ARGS__)
#define OP_OUTPUT(...) op::PackTensors(__VA_ARGS__)
#define OP_ATTR(...) op::PackAttributes(__VA_ARGS__)
