// SPDX-License-Identifier: Apache-2.0
// Stub: CpuKernel, CpuKernelContext, Tensor and AttrValue, the AI CPU API of CANN's manual.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace aicpu {

class AttrValue {
 public:
  int64_t GetInt() const;
};

class Tensor {
 public:
  void* GetData() const;
  int64_t NumElements() const;
};

class CpuKernelContext {
 public:
  uint32_t GetInputsSize() const;
  uint32_t GetOutputsSize() const;
  Tensor* Input(uint32_t index) const;
  Tensor* Output(uint32_t index) const;
  AttrValue* GetAttr(std::string name) const;
};

class CpuKernel {
 public:
  virtual uint32_t Compute(CpuKernelContext& context) = 0;
  virtual ~CpuKernel() = default;
};

using KernelCreator = std::function<std::shared_ptr<CpuKernel>(void)>;
bool RegistCpuKernel(const std::string& type, const KernelCreator& creator);

}  // namespace aicpu

#define REGISTER_CPU_KERNEL(type, kernel)                            \
  static const bool kernel##_is_registered = aicpu::RegistCpuKernel( \
      type, []() -> std::shared_ptr<aicpu::CpuKernel> { return std::make_shared<kernel>(); })
