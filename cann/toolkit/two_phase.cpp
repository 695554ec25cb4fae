// SPDX-License-Identifier: Apache-2.0
#include "cann/toolkit/two_phase.h"

#include "aclnn/opdev/op_log.h"

namespace sfmla::cann {

aclnnStatus Fail(const Refusal& refusal) {
  OP_LOGE(refusal.code, "%s", refusal.text.c_str());
  return refusal.code;
}

Refusal PrepareResults(int32_t null_code, uint64_t* workspace_size, aclOpExecutor** executor) {
  if (workspace_size != nullptr) *workspace_size = 0;
  if (executor != nullptr) *executor = nullptr;
  if (workspace_size == nullptr)
    return {null_code, "workspaceSize: NULL, must point to the result"};
  if (executor == nullptr) return {null_code, "executor: NULL, must point to the result"};
  return {};
}

}  // namespace sfmla::cann
