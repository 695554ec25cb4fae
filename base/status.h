// SPDX-License-Identifier: Apache-2.0
// Status and Result: how every layer below the C surface reports a refusal.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sfmla {

// The numbers are those of the public headers (acl_base_rt.h, rt_error_codes.h, op_errno.h); base
// cannot include them, so a test compares the two lists.
namespace code {
inline constexpr int32_t kOk = 0;
inline constexpr int32_t kAclInvalidParam = 100000;
inline constexpr int32_t kRtParamInvalid = 107000;
inline constexpr int32_t kRtContextNull = 107002;
inline constexpr int32_t kRtStreamContext = 107003;
inline constexpr int32_t kRtMemoryAllocation = 207001;
inline constexpr int32_t kRtAicoreException = 507015;
inline constexpr int32_t kRtAicpuException = 507018;
inline constexpr int32_t kAclnnParamNullptr = 161001;
inline constexpr int32_t kAclnnParamInvalid = 161002;
inline constexpr int32_t kAclnnRuntimeError = 361001;
inline constexpr int32_t kAclnnInner = 561000;
inline constexpr int32_t kAclnnInnerFindKernel = 561003;
inline constexpr int32_t kAclnnInnerNullptr = 561103;
}  // namespace code

// What a status is about beyond its code, where reports for the user differ by it.
enum class Subject : uint8_t { kOther, kNullArgument, kWorkspaceSize };

// A code of the public headers and, unless it is 0, one sentence for a human: operand, what was
// found, what is allowed. The innermost function writes the sentence; callers pass it on unchanged.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, std::string text, Subject subject = Subject::kOther)
      : code_(code), subject_(subject), text_(std::move(text)) {
    assert(code != code::kOk);
  }
  static Status Ok() { return {}; }

  bool ok() const { return code_ == code::kOk; }
  int32_t code() const { return code_; }
  Subject subject() const { return subject_; }
  const std::string& text() const { return text_; }

 private:
  int32_t code_ = code::kOk;
  Subject subject_ = Subject::kOther;
  std::string text_;
};

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(runtime/explicit)
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace sfmla

// Leaves the enclosing function with the status of `expression` unless it is ok.
#define SFMLA_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (::sfmla::Status sfmla_status_ = (expression); !sfmla_status_.ok()) return sfmla_status_; \
  } while (false)
