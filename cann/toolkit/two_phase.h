// SPDX-License-Identifier: Apache-2.0
// What the C entry points share on CANN.
#pragma once

#include <cstdint>

#include "aclnn/opdev/make_op_executor.h"
#include "aclnn/opdev/op_errno.h"
#include "cann/bridge/operand_view.h"

namespace sfmla::cann {

// Logs the sentence and returns the code.
aclnnStatus Fail(const Refusal& refusal);

// Empties both results, or refuses with `null_code` the one that is NULL.
Refusal PrepareResults(int32_t null_code, uint64_t* workspace_size, aclOpExecutor** executor);

// Hands a new executor out, with what `queue(aclOpExecutor*)` puts into it.
template <typename Queue>
aclnnStatus MakeExecutor(uint64_t* workspace_size, aclOpExecutor** executor, const Queue& queue) {
  auto unique_executor = CREATE_EXECUTOR();
  if (unique_executor.get() == nullptr) return ACLNN_ERR_INNER_CREATE_EXECUTOR;
  const aclnnStatus status = queue(unique_executor.get());
  if (status != ACLNN_SUCCESS) return status;
  *workspace_size = unique_executor->GetWorkspaceSize();
  unique_executor.ReleaseTo(executor);
  return ACLNN_SUCCESS;
}

}  // namespace sfmla::cann
