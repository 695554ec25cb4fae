// SPDX-License-Identifier: Apache-2.0
// The outermost frame of every exported function: statuses become codes with a text, exceptions
// too.
#pragma once

#include <cstdint>
#include <exception>
#include <new>

#include "acl/acl_base.h"
#include "aclnn/opdev/op_errno.h"
#include "runtime/last_error.h"

namespace sfmla {

// What an exception becomes in a family of functions.
struct ExceptionCodes {
  int32_t out_of_memory;
  int32_t other;
};

inline constexpr ExceptionCodes kAclExceptionCodes{ACL_ERROR_BAD_ALLOC, ACL_ERROR_INTERNAL_ERROR};
inline constexpr ExceptionCodes kAclnnExceptionCodes{ACLNN_ERR_RUNTIME_ERROR, ACLNN_ERR_INNER};

// Calls `body` (() -> Status) and reports what it returns or throws.
template <typename Body>
int32_t Guard(const char* api, ExceptionCodes codes, const Body& body) noexcept {
  try {
    return Report(api, body());
  } catch (const std::bad_alloc&) {
    return ReportException(api, codes.out_of_memory, "host memory: none left (207001)");
  } catch (const std::exception& error) {
    return ReportException(api, codes.other, error.what());
  } catch (...) {
    return ReportException(api, codes.other, "unknown exception");
  }
}

template <typename Body>
aclError AclCall(const char* api, const Body& body) noexcept {
  return Guard(api, kAclExceptionCodes, body);
}

template <typename Body>
int32_t AclnnCall(const char* api, const Body& body) noexcept {
  return Guard(api, kAclnnExceptionCodes, body);
}

}  // namespace sfmla
