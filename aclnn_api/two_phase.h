// SPDX-License-Identifier: Apache-2.0
// What the C entry points of all operators share.
#pragma once

#include "aclnn/acl_meta.h"
#include "base/format.h"
#include "base/status.h"
#include "runtime/api_guard.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/kernel_registry.h"

namespace sfmla {

// Phase one. `plan` is called when both out pointers are there and returns Result<Launch>; on
// success a new executor and its workspace size go out, on failure NULL and 0 with the text
// recorded. `null_code` is what this operator answers for a NULL out pointer.
template <typename Plan>
aclnnStatus PhaseOne(const char* api, int32_t null_code, uint64_t* workspace_size,
                     aclOpExecutor** executor, const Plan& plan) noexcept {
  if (workspace_size != nullptr) *workspace_size = 0;
  if (executor != nullptr) *executor = nullptr;
  return AclnnCall(api, [&]() -> Status {
    if (workspace_size == nullptr || executor == nullptr) {
      const char* name = workspace_size == nullptr ? "workspaceSize" : "executor";
      return Status(null_code, Str(name, ": NULL, must point to the result"));
    }
    Result<Launch> launch = plan();
    if (!launch.ok()) return launch.status();
    if (FindKernel(CurrentDeviceKind(), launch->kernel_id) == nullptr) {
      return Status(code::kAclnnInnerFindKernel,
                    Str(launch->op_name, ": the device ", CurrentSoc().soc_name,
                        " has no kernel of it, SFMLA_DEVICE must be cpu"));
    }
    *workspace_size = launch->workspace_bytes;
    *executor = NewExecutor(std::move(launch.value()));
    return Status::Ok();
  });
}

// Phase two.
inline aclnnStatus PhaseTwo(const char* api, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream) noexcept {
  return AclnnCall(api,
                   [&] { return RunExecutor(api, workspace, workspace_size, executor, stream); });
}

}  // namespace sfmla
