// SPDX-License-Identifier: Apache-2.0
// Stub: the basic tensor operation Contiguous.
#pragma once

#include "aclnn/opdev/op_executor.h"

namespace l0op {
const aclTensor* Contiguous(const aclTensor* tensor, aclOpExecutor* executor);
}  // namespace l0op
