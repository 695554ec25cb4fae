// SPDX-License-Identifier: Apache-2.0
// Stub: macros that make executors and queue AI Core tasks; the latter expects `executor` in scope.
#pragma once

#include "aclnn/opdev/op_arg_def.h"
#include "aclnn/opdev/op_executor.h"

namespace op {
aclnnStatus QueueAiCore(uint32_t op_type, aclOpExecutor* executor, const OpArgContext& inputs,
                        const OpArgContext& outputs, const OpArgContext& attributes);
}  // namespace op

#define CREATE_EXECUTOR() UniqueExecutor(__func__)
#define ADD_TO_LAUNCHER_LIST_AICORE(kernel_name, ...) \
  op::QueueAiCore(kernel_name##OpTypeId(), executor, __VA_ARGS__)
