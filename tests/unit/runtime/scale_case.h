// SPDX-License-Identifier: Apache-2.0
// A small operator, aclnnScale, with everything one call of it needs.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <stdexcept>

#include "aclnn/opdev/op_errno.h"
#include "base/format.h"
#include "runtime/executor.h"
#include "runtime/kernel_registry.h"
#include "runtime/last_error.h"
#include "runtime_fixture.h"

namespace sfmla::test {

inline constexpr int64_t kElements = 8;
inline constexpr const char* kOpName = "aclnnScale";

// out[i] = factor * in[i]; the factor is the tiling data.
inline Status Scale(const KernelCall& call) {
  int32_t factor = 0;
  std::memcpy(&factor, call.tiling.data(), sizeof(factor));
  const auto* in = static_cast<const int32_t*>(call.operands[0]);
  auto* out = static_cast<int32_t*>(call.operands[2]);
  if (call.operands[1] != nullptr) return Status(507015, "bias: must be absent");
  if (in[0] < 0) return Status(507015, Str("in: position 0 holds ", in[0], ", must be >= 0"));
  for (int64_t i = 0; i < kElements; ++i) out[i] = factor * in[i];
  return Status::Ok();
}

inline Status Throw(const KernelCall&) { throw std::runtime_error("division by zero"); }

inline void RegisterKernels() {
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

  static Operand Used(const char* name, const aclTensor* tensor, bool is_output) {
    Operand operand;
    operand.name = name;
    operand.handle = tensor;
    operand.is_output = is_output;
    operand.used = true;
    operand.desc = Describe(*FindTensor(tensor));
    return operand;
  }

  Launch MakeLaunch() const {
    const int32_t factor = 3;
    Launch launch;
    launch.op_name = kOpName;
    launch.kernel_id = "test/scale";
    launch.tiling.resize(sizeof(factor));
    std::memcpy(launch.tiling.data(), &factor, sizeof(factor));
    launch.operands.resize(3);
    launch.operands[0] = Used("in", in_tensor, /*is_output=*/false);
    launch.operands[1].name = "bias";
    launch.operands[2] = Used("out", out_tensor, /*is_output=*/true);
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

}  // namespace sfmla::test
