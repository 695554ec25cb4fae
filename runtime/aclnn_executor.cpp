// SPDX-License-Identifier: Apache-2.0
// C functions: executors.
#include "aclnn/acl_meta.h"
#include "runtime/api_guard.h"
#include "runtime/executor.h"

using namespace sfmla;

namespace {

aclnnStatus Rebind(const char* api, OperandRange range, aclOpExecutor* executor, size_t index,
                   aclTensor* tensor, void* addr) {
  return AclnnCall(api, [&] { return RebindOperand(executor, range, index, tensor, addr); });
}

}  // namespace

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return AclnnCall("aclSetAclOpExecutorRepeatable", [&] { return MakeRepeatable(executor); });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return AclnnCall("aclDestroyAclOpExecutor", [&] { return DestroyExecutor(executor); });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return Rebind("aclSetInputTensorAddr", OperandRange::kInputs, executor, index, tensor, addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return Rebind("aclSetOutputTensorAddr", OperandRange::kOutputs, executor, index, tensor, addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return Rebind("aclSetTensorAddr", OperandRange::kAll, executor, index, tensor, addr);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return aclSetTensorAddr(executor, index, tensor, addr);
}
