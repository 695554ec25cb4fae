// SPDX-License-Identifier: Apache-2.0
// C functions: executors.
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "base/format.h"
#include "runtime/api_guard.h"
#include "runtime/executor.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

aclnnStatus Rebind(const char* api, OperandRange range, aclOpExecutor* executor, size_t index,
                   aclTensor* tensor, void* addr) {
  return AclnnCall(api, [&] { return RebindOperand(executor, range, index, tensor, addr); });
}

// No operator here takes a list, so a parameter is one operand, and element 0 of the list is it.
aclnnStatus RebindElement(const char* api, OperandRange range, aclOpExecutor* executor,
                          size_t ir_index, size_t relative_index, aclTensorList* tensors,
                          void* addr) {
  return AclnnCall(api, [&]() -> Status {
    const Result<aclTensor*> tensor = ElementOf(tensors, relative_index);
    if (!tensor.ok()) return tensor.status();
    if (relative_index > 0) {
      return Status(ACLNN_ERR_PARAM_INVALID, Str("relativeIndex: ", relative_index,
                                                 ", must be 0: the parameter is no list"));
    }
    return RebindOperand(executor, range, ir_index, tensor.value(), addr);
  });
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

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return RebindElement("aclSetDynamicInputTensorAddr", OperandRange::kInputs, executor, irIndex,
                       relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return RebindElement("aclSetDynamicOutputTensorAddr", OperandRange::kOutputs, executor, irIndex,
                       relativeIndex, tensors, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return RebindElement("aclSetDynamicTensorAddr", OperandRange::kAll, executor, irIndex,
                       relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return aclSetDynamicInputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return aclSetDynamicOutputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return aclSetDynamicTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

int InitHugeMemThreadLocal(void*, bool) { return 0; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}
