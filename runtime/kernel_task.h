// SPDX-License-Identifier: Apache-2.0
// What phase two queues: one call of a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/kernel_call.h"
#include "base/status.h"
#include "runtime/executor.h"
#include "runtime/stream.h"

namespace sfmla {

// Everything a queued call needs, by value.
struct Call {
  std::shared_ptr<const Launch> launch;
  KernelFn kernel = nullptr;
  std::array<void*, kMaxOperands> data{};  // buffer start per operand, the view offset not applied
  std::byte* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

// Runs it on the stream's worker: checks memory, gathers strided inputs, calls the kernel. Texts
// begin with the operator's name; an exception becomes 507018.
Status RunCall(const Call& call);

// Device memory it may write: outputs and the workspace.
std::vector<MemoryRange> WritesOf(const Call& call);

}  // namespace sfmla
