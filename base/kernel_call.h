// SPDX-License-Identifier: Apache-2.0
// What a device hands to a kernel. The runtime fills it, op_kernel reads it, neither knows the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace sfmla {

struct KernelCall {
  // Tiling data of the operator: plain bytes written by op_host, laid out by a header of op_kernel.
  std::span<const std::byte> tiling;
  // Address of element 0 of each operand in the operator's argument order (inputs, then outputs);
  // nullptr for an absent one.
  std::span<void* const> operands;
  // How many bytes from there on belong to each operand; 0 for an absent one.
  std::span<const uint64_t> operand_bytes;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

// Runs to completion on the calling thread (it may use the thread pool). A bad value found in
// device memory comes back as a Status with a 507xxx code; nothing outside operands and workspace
// is touched.
using KernelFn = Status (*)(const KernelCall& call);

enum class DeviceKind : uint8_t { kCpu, kAscend910b };

// Where kernels make themselves known; runtime/kernel_registry.h is the implementation.
class KernelSink {
 public:
  virtual ~KernelSink() = default;
  virtual void Add(DeviceKind device, std::string_view kernel_id, KernelFn kernel) = 0;
};

}  // namespace sfmla
