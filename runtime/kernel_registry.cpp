// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_registry.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace sfmla {
namespace {

class Registry final : public KernelSink {
 public:
  void Add(DeviceKind device, std::string_view kernel_id, KernelFn kernel) override {
    std::unique_lock lock(mutex_);
    kernels_[{device, std::string(kernel_id)}] = kernel;
  }

  KernelFn Find(DeviceKind device, std::string_view kernel_id) const {
    std::shared_lock lock(mutex_);
    const auto found = kernels_.find({device, std::string(kernel_id)});
    return found == kernels_.end() ? nullptr : found->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::pair<DeviceKind, std::string>, KernelFn> kernels_;
};

Registry& Kernels() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

KernelSink& KernelRegistry() { return Kernels(); }

KernelFn FindKernel(DeviceKind device, std::string_view kernel_id) {
  return Kernels().Find(device, kernel_id);
}

}  // namespace sfmla
