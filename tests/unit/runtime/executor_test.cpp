// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "scale_case.h"

namespace sfmla::test {
TEST_CASE_FIXTURE(ScaleCase, "phase two queues the kernel and consumes the executor") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
  CheckRefusal(Run(executor), ACLNN_ERR_PARAM_INVALID, {"executor", "consumed"});
  CheckRefusal(aclDestroyAclOpExecutor(executor), ACLNN_ERR_INNER, {"executor"});
}

TEST_CASE_FIXTURE(ScaleCase, "descriptors may die as soon as phase two returned") {
  OwnedStream stream;
  Gate gate;
  gate.Block(stream.handle);
  CHECK(Run(NewExecutor(MakeLaunch()), stream.handle) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(in_tensor) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(out_tensor) == ACLNN_SUCCESS);
  CHECK(out[1] == -1);
  gate.Open();
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CheckScaled(in);
}

TEST_CASE_FIXTURE(ScaleCase, "handles that are not this operator's executor are refused") {
  int local = 0;
  CheckRefusal(Run(nullptr), ACLNN_ERR_PARAM_NULLPTR, {"EZ1011", "executor"});
  CheckRefusal(Run(reinterpret_cast<aclOpExecutor*>(&local)), ACLNN_ERR_PARAM_INVALID,
               {"executor"});
  CheckRefusal(Run(reinterpret_cast<aclOpExecutor*>(in_tensor)), ACLNN_ERR_PARAM_INVALID,
               {"executor", "tensor"});
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CheckRefusal(Run(executor, nullptr, nullptr, 0, "aclnnOther"), ACLNN_ERR_PARAM_INVALID,
               {"executor", kOpName, "aclnnOther"});
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
  CheckRefusal(aclSetAclOpExecutorRepeatable(nullptr), ACLNN_ERR_INNER_NULLPTR, {"executor"});
  CheckRefusal(aclDestroyAclOpExecutor(nullptr), ACLNN_ERR_INNER_NULLPTR, {"executor"});
  CheckRefusal(aclDestroyAclOpExecutor(reinterpret_cast<aclOpExecutor*>(&local)), ACLNN_ERR_INNER,
               {"executor"});
  CheckRefusal(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_INNER, {"executor"});
}

TEST_CASE_FIXTURE(ScaleCase, "a refused workspace or stream leaves the executor usable") {
  Launch launch = MakeLaunch();
  launch.workspace_bytes = 16;
  aclOpExecutor* executor = NewExecutor(std::move(launch));
  CheckRefusal(Run(executor, nullptr, nullptr, 16), ACLNN_ERR_PARAM_NULLPTR, {"workspace"});
  CheckRefusal(Run(executor, nullptr, other, 8), ACLNN_ERR_PARAM_INVALID, {"8", "16"});
  CheckRefusal(Run(executor, nullptr, nullptr, 0), ACLNN_ERR_PARAM_INVALID, {"0", "16"});
  std::thread([&] {
    CheckRefusal(Run(executor, nullptr, other, 16), ACLNN_ERR_RUNTIME_ERROR, {"context", "107002"});
  }).join();
  aclrtStream dead = nullptr;
  CHECK(aclrtCreateStream(&dead) == ACL_SUCCESS);
  CHECK(aclrtDestroyStream(dead) == ACL_SUCCESS);
  CheckRefusal(Run(executor, dead, other, 16), ACLNN_ERR_RUNTIME_ERROR, {"stream", "107000"});
  CHECK(Run(executor, nullptr, other, 32) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
}

TEST_CASE_FIXTURE(ScaleCase, "a stream of another context is refused") {
  OwnedStream stream;
  aclrtContext primary = nullptr;
  aclrtContext context = nullptr;
  CHECK(aclrtGetCurrentContext(&primary) == ACL_SUCCESS);
  CHECK(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CheckRefusal(Run(executor, stream.handle), ACLNN_ERR_RUNTIME_ERROR, {"stream", "107003"});
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
  CHECK(aclrtDestroyContext(context) == ACL_SUCCESS);
  CHECK(aclrtSetCurrentContext(primary) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "a tensor destroyed between the phases is noticed") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(aclDestroyTensor(in_tensor) == ACLNN_SUCCESS);
  in_tensor = Create(in);
  CheckRefusal(Run(executor), ACLNN_ERR_PARAM_INVALID, {"in", "tensor destroyed"});
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "a repeatable executor reads the addresses at each run") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(aclSetAclOpExecutorRepeatable(executor) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclSetInputTensorAddr(executor, 0, in_tensor, other) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(other);
  aclTensor* second = Create(nullptr);
  CHECK(AclSetTensorAddr(executor, 0, second, in) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
  CHECK(aclSetOutputTensorAddr(executor, 0, out_tensor, other) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(other[7] == 21);
  CHECK(aclDestroyTensor(second) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "an address that phase one did not see is compared with the others") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(aclSetAclOpExecutorRepeatable(executor) == ACLNN_SUCCESS);
  CHECK(aclSetOutputTensorAddr(executor, 0, out_tensor, in) == ACLNN_SUCCESS);
  CheckRefusal(Run(executor), ACLNN_ERR_PARAM_INVALID, {"out: shares memory with in"});
  CHECK(aclSetOutputTensorAddr(executor, 0, out_tensor, out) == ACLNN_SUCCESS);
  CHECK(aclSetInputTensorAddr(executor, 0, in_tensor, out + 1) == ACLNN_SUCCESS);
  CheckRefusal(Run(executor), ACLNN_ERR_PARAM_INVALID, {"out: shares memory with in"});
  CHECK(aclSetInputTensorAddr(executor, 0, in_tensor, in) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "the workspace shares no memory with an operand") {
  Launch launch = MakeLaunch();
  launch.workspace_bytes = 16;
  aclOpExecutor* executor = NewExecutor(std::move(launch));
  CheckRefusal(Run(executor, nullptr, in + 7, 16), ACLNN_ERR_PARAM_INVALID,
               {"workspace: shares memory with in"});
  CheckRefusal(Run(executor, nullptr, out, 16), ACLNN_ERR_PARAM_INVALID,
               {"workspace: shares memory with out"});
  CHECK(Run(executor, nullptr, other, 16) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
}

TEST_CASE_FIXTURE(ScaleCase, "an address that does not suit the elements stops the kernel") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(aclSetTensorAddr(executor, 0, in_tensor, reinterpret_cast<char*>(in) + 2) == 0);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"aclnnScale", "in: data address", "multiple of 4"});
  CHECK(out[0] == -1);
}

TEST_CASE_FIXTURE(ScaleCase, "the checks of a rebinding come in the platform's order") {
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CheckRefusal(aclSetTensorAddr(executor, 0, nullptr, in), ACLNN_ERR_INNER_NULLPTR, {"tensor"});
  CheckRefusal(aclSetTensorAddr(nullptr, 0, in_tensor, other), ACLNN_ERR_INNER_NULLPTR,
               {"executor"});
  CHECK(FindTensor(in_tensor)->data == other);
  CheckRefusal(aclSetTensorAddr(executor, 1, in_tensor, in), ACLNN_ERR_PARAM_INVALID, {"bias"});
  CheckRefusal(aclSetTensorAddr(executor, 3, in_tensor, in), ACLNN_ERR_PARAM_INVALID, {"3"});
  CheckRefusal(aclSetInputTensorAddr(executor, 2, in_tensor, in), ACLNN_ERR_PARAM_INVALID, {"2"});
  CheckRefusal(aclSetOutputTensorAddr(executor, 1, in_tensor, in), ACLNN_ERR_PARAM_INVALID, {"1"});
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "an element of a list can be an operand too") {
  aclTensor* element = Create(nullptr);
  aclTensorList* list = aclCreateTensorList(&element, 1);
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CheckRefusal(aclSetDynamicTensorAddr(executor, 0, 0, nullptr, other), ACLNN_ERR_INNER_NULLPTR,
               {"tensors"});
  CheckRefusal(aclSetDynamicTensorAddr(executor, 0, 1, list, other), ACLNN_ERR_PARAM_INVALID,
               {"relativeIndex", "1"});
  CheckRefusal(aclSetDynamicInputTensorAddr(executor, 9, 0, list, other), ACLNN_ERR_PARAM_INVALID,
               {"index", "9"});
  CHECK(AclSetDynamicInputTensorAddr(executor, 0, 0, list, other) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(other);
  CHECK(aclDestroyTensorList(list) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "what a kernel refuses or throws is an error of the stream") {
  in[0] = -5;
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"aclnnScale: in: position 0 holds -5"});
  Launch throwing = MakeLaunch();
  throwing.kernel_id = "test/throw";
  CHECK(Run(NewExecutor(std::move(throwing))) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICPU_EXCEPTION,
               {"aclnnScale", "division by zero"});
  in[0] = 0;
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
}

TEST_CASE_FIXTURE(ScaleCase,
                  "memory that is not there when the work runs is an error of the stream") {
  int32_t host[kElements] = {};
  CHECK(aclSetRawTensorAddr(in_tensor, host) == ACLNN_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"aclnnScale: in: ", "no live device allocation"});
  CHECK(aclSetRawTensorAddr(in_tensor, in + 1) == ACLNN_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, {"in: ", "leave"});
  CHECK(aclrtHostRegisterV2(host, sizeof(host), 0) == ACL_SUCCESS);
  CHECK(aclSetRawTensorAddr(in_tensor, host) == ACLNN_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(aclrtHostUnregister(host) == ACL_SUCCESS);
  CheckScaled(host);
}

TEST_CASE_FIXTURE(ScaleCase, "a strided input reaches the kernel through the workspace") {
  void* strided = nullptr;
  void* workspace = nullptr;
  REQUIRE(aclrtMalloc(&strided, 400, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  REQUIRE(aclrtMalloc(&workspace, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  auto* values = static_cast<int32_t*>(strided);
  for (int32_t i = 0; i < 100; ++i) values[i] = i;
  CHECK(aclDestroyTensor(in_tensor) == ACLNN_SUCCESS);
  in_tensor = Create(strided, /*stride=*/5, /*offset=*/2);
  Launch launch = MakeLaunch();
  launch.copies.push_back({0, 32});
  launch.workspace_bytes = 64;
  CHECK(Run(NewExecutor(std::move(launch)), nullptr, workspace, 64) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  for (int32_t i = 0; i < kElements; ++i) CHECK(out[i] == 3 * (2 + 5 * i));
  CHECK(aclrtFree(strided) == ACL_SUCCESS);
  CHECK(aclrtFree(workspace) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "a NULL data address is for planning: phase two refuses it") {
  CHECK(aclSetRawTensorAddr(out_tensor, nullptr) == ACLNN_SUCCESS);
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CheckRefusal(Run(executor), ACLNN_ERR_PARAM_INVALID, {"out", "NULL"});
  CHECK(aclSetRawTensorAddr(out_tensor, out) == ACLNN_SUCCESS);
  CHECK(Run(executor) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
}

TEST_CASE_FIXTURE(ScaleCase, "nothing to do is success without a kernel, no kernel is an error") {
  Launch nothing = MakeLaunch();
  nothing.kernel_id = "test/none";
  nothing.nothing_to_do = true;
  CHECK(Run(NewExecutor(std::move(nothing))) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(out[1] == -1);
  Launch unknown = MakeLaunch();
  unknown.kernel_id = "test/none";
  aclOpExecutor* executor = NewExecutor(std::move(unknown));
  CheckRefusal(Run(executor), ACLNN_ERR_INNER_FIND_KERNEL_ERROR, {"test/none"});
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "a single-use executor runs once, whoever comes first") {
  OwnedStream stream;
  for (int round = 0; round < 20; ++round) {
    aclOpExecutor* executor = NewExecutor(MakeLaunch());
    std::atomic<int> successes{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < 2; ++number) {
      threads.emplace_back([&] {
        OnDevice device;
        if (Run(executor, stream.handle) == ACLNN_SUCCESS) ++successes;
        TakeText();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(successes == 1);
  }
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
}

}  // namespace sfmla::test
