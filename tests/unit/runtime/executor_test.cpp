// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "aclnn/opdev/op_errno.h"
#include "base/format.h"
#include "runtime/kernel_registry.h"
#include "runtime/last_error.h"
#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

constexpr int64_t kElements = 8;
constexpr const char* kOpName = "aclnnScale";

// out[i] = factor * in[i]; the factor is the tiling data.
Status Scale(const KernelCall& call) {
  int32_t factor = 0;
  std::memcpy(&factor, call.tiling.data(), sizeof(factor));
  const auto* in = static_cast<const int32_t*>(call.operands[0]);
  auto* out = static_cast<int32_t*>(call.operands[2]);
  if (call.operands[1] != nullptr) return Status(507015, "bias: must be absent");
  if (in[0] < 0) return Status(507015, Str("in: position 0 holds ", in[0], ", must be >= 0"));
  for (int64_t i = 0; i < kElements; ++i) out[i] = factor * in[i];
  return Status::Ok();
}

Status Throw(const KernelCall&) { throw std::runtime_error("division by zero"); }

void RegisterKernels() {
  KernelRegistry().Add(DeviceKind::kCpu, "test/scale", &Scale);
  KernelRegistry().Add(DeviceKind::kCpu, "test/throw", &Throw);
}

// Two device buffers with tensors on them, and phase one of aclnnScale.
struct ScaleCase : OnDevice {
  ScaleCase() {
    RegisterKernels();
    constexpr size_t kBytes = kElements * sizeof(int32_t);
    for (int32_t** buffer : {&in, &out, &other}) {
      void* memory = nullptr;
      REQUIRE(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
      *buffer = static_cast<int32_t*>(memory);
    }
    for (int32_t i = 0; i < kElements; ++i) {
      in[i] = i;
      other[i] = 10 * i;
      out[i] = -1;
    }
    in_tensor = Create(in);
    out_tensor = Create(out);
  }
  ~ScaleCase() {
    CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
    for (int32_t* buffer : {in, out, other}) CHECK(aclrtFree(buffer) == ACL_SUCCESS);
    (void)aclDestroyTensor(in_tensor);
    (void)aclDestroyTensor(out_tensor);
    TakeText();
  }

  static aclTensor* Create(void* data, int64_t stride = 1, int64_t offset = 0) {
    return aclCreateTensor(&kElements, 1, ACL_INT32, &stride, offset, ACL_FORMAT_ND, &kElements, 1,
                           data);
  }

  Launch MakeLaunch() const {
    const int32_t factor = 3;
    Launch launch;
    launch.op_name = kOpName;
    launch.kernel_id = "test/scale";
    launch.tiling.resize(sizeof(factor));
    std::memcpy(launch.tiling.data(), &factor, sizeof(factor));
    launch.operands.resize(3);
    launch.operands[0] = {"in", in_tensor, Describe(*FindTensor(in_tensor)), false, true};
    launch.operands[1].name = "bias";
    launch.operands[2] = {"out", out_tensor, Describe(*FindTensor(out_tensor)), true, true};
    return launch;
  }

  static int32_t Run(aclOpExecutor* executor, aclrtStream stream = nullptr,
                     void* workspace = nullptr, uint64_t workspace_bytes = 0,
                     const char* op_name = kOpName) {
    return Report(op_name, RunExecutor(op_name, workspace, workspace_bytes, executor, stream));
  }

  void CheckScaled(const int32_t* from) const {
    for (int64_t i = 0; i < kElements; ++i) CHECK(out[i] == 3 * from[i]);
  }

  int32_t* in = nullptr;
  int32_t* out = nullptr;
  int32_t* other = nullptr;
  aclTensor* in_tensor = nullptr;
  aclTensor* out_tensor = nullptr;
};

}  // namespace

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
