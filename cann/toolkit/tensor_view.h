// SPDX-License-Identifier: Apache-2.0
// aclTensor of CANN as the bridge sees it, and tensors of an executor.
#pragma once

#include "aclnn/opdev/common_types.h"
#include "aclnn/opdev/op_executor.h"
#include "cann/bridge/operand_view.h"

namespace sfmla::cann {

// Not given for nullptr.
OperandView ViewOf(const aclTensor* tensor);

// What a kernel takes instead of `tensor`: contiguous in stream order if it must be, else a view
// of the same extents whose address is that of element 0. nullptr on failure.
const aclTensor* KernelOperand(const aclTensor* tensor, bool contiguous, aclOpExecutor* executor);

}  // namespace sfmla::cann
