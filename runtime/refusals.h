// SPDX-License-Identifier: Apache-2.0
// Sentences that many functions of the C interface share.
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "aclnn/opdev/op_errno.h"
#include "base/format.h"
#include "base/status.h"
#include "runtime/handle_table.h"

namespace sfmla {

inline Status NullArgument(int32_t code, const char* name) {
  return Status(code, Str(name, ": NULL, must not be NULL"), Subject::kNullArgument);
}

inline Status RequirePointer(const char* name, const void* pointer) {
  if (pointer == nullptr) return NullArgument(ACL_ERROR_INVALID_PARAM, name);
  return Status::Ok();
}

inline Status DeadHandle(int32_t code, const char* name, HandleKind kind, const void* handle) {
  return Status(code, Str(name, ": ", handle, " is ", DescribeMiss(kind, handle)));
}

}  // namespace sfmla
