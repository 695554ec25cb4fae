// SPDX-License-Identifier: Apache-2.0
// What the C entry points of all operators share.
#pragma once

#include <exception>

#include "aclnn/acl_meta.h"
#include "base/format.h"
#include "base/status.h"
#include "runtime/executor.h"
#include "runtime/last_error.h"

namespace sfmla {

// Phase one. `plan` is called when both out pointers are there and returns Result<Launch>; on
// success a new executor and its workspace size go out, on failure NULL and 0 with the text
// recorded. `null_code` is what this operator answers for a NULL out pointer.
template <typename Plan>
aclnnStatus PhaseOne(const char* api, int32_t null_code, uint64_t* workspace_size,
                     aclOpExecutor** executor, const Plan& plan) {
  if (workspace_size != nullptr) *workspace_size = 0;
  if (executor != nullptr) *executor = nullptr;
  if (workspace_size == nullptr || executor == nullptr) {
    const char* name = workspace_size == nullptr ? "workspaceSize" : "executor";
    return Report(api, Status(null_code, Str(name, ": NULL, must point to the result")));
  }
  try {
    Result<Launch> launch = plan();
    if (!launch.ok()) return Report(api, launch.status());
    *workspace_size = launch->workspace_bytes;
    *executor = NewExecutor(std::move(launch.value()));
    return ACL_SUCCESS;
  } catch (const std::exception& error) {
    return Report(api, Status(code::kAclnnInner, Str("unexpected: ", error.what())));
  }
}

// Phase two.
inline aclnnStatus PhaseTwo(const char* api, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream) {
  try {
    return Report(api, RunExecutor(api, workspace, workspace_size, executor, stream));
  } catch (const std::exception& error) {
    return Report(api, Status(code::kAclnnInner, Str("unexpected: ", error.what())));
  }
}

}  // namespace sfmla
