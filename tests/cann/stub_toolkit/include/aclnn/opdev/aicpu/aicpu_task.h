// SPDX-License-Identifier: Apache-2.0
// Stub: ADD_TO_LAUNCHER_LIST_AICPU, which expects `space` and `executor` in scope.
#pragma once

#include <string>

#include "aclnn/opdev/op_arg_def.h"
#include "aclnn/opdev/op_executor.h"

namespace op::internal {

class AicpuTaskSpace {
 public:
  explicit AicpuTaskSpace(const std::string& op_type);
};

aclnnStatus QueueAiCpu(uint32_t op_type, AicpuTaskSpace& space, aclOpExecutor* executor,
                       const FVector<std::string>& attribute_names, const OpArgContext& inputs,
                       const OpArgContext& outputs, const OpArgContext& attributes);

}  // namespace op::internal

using namespace op;

#define OP_ATTR_NAMES op::FVector<std::string>
#define ADD_TO_LAUNCHER_LIST_AICPU(kernel_name, attribute_names, ...) \
  op::internal::QueueAiCpu(kernel_name##OpTypeId(), space, executor, attribute_names, __VA_ARGS__)
