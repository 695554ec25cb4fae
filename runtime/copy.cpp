// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy.h"

#include <cstring>
#include <utility>

#include "runtime/allocator.h"
#include "runtime/capture.h"
#include "runtime/device_memory.h"
#include "runtime/refusals.h"
#include "runtime/strict_memory.h"

namespace sfmla {
namespace {

bool BeginsInOurs(const void* address) { return FindAllocation(address).has_value(); }

// A range that leaves registered memory of the caller is pageable as a whole.
bool LiesInOurs(const void* address, size_t bytes) {
  const std::optional<Allocation> found = FindAllocation(address);
  if (!found) return false;
  const size_t offset = reinterpret_cast<uintptr_t>(address) - found->begin;
  return found->kind == MemoryKind::kDevice || bytes <= found->bytes - offset;
}

// The range lies in memory of this library, the slack of its allocation included.
Status CheckOurs(const char* what, const void* address, size_t bytes, int32_t failure_code) {
  if (!BeginsInOurs(address)) return CheckAccessible(what, address, bytes, failure_code);
  return CheckStaysInside(what, address, bytes, failure_code);
}

// A freed device address must not be taken for pageable memory.
Status CheckSides(const Copy& copy) {
  const int needed = copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE ? 2 : 1;
  const bool any = copy.kind == ACL_MEMCPY_HOST_TO_HOST || copy.kind == ACL_MEMCPY_DEFAULT;
  if (any || int{BeginsInOurs(copy.dst)} + int{BeginsInOurs(copy.src)} >= needed) {
    return Status::Ok();
  }
  const Status dst = CheckAccessible("dst", copy.dst, copy.bytes, ACL_ERROR_RT_PARAM_INVALID);
  const Status src = CheckAccessible("src", copy.src, copy.bytes, ACL_ERROR_RT_PARAM_INVALID);
  const bool src_is_device = copy.kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                             (copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE && dst.ok());
  return src_is_device ? src : dst;
}

// Runs on the stream: memory may have been freed since the call was checked.
Status RunCopy(const Copy& copy, bool dst_is_ours, bool src_is_ours) {
  constexpr int32_t kCode = ACL_ERROR_RT_AICORE_EXCEPTION;
  if (dst_is_ours) {
    SFMLA_RETURN_IF_ERROR(CheckOurs("aclrtMemcpyAsync: dst", copy.dst, copy.bytes, kCode));
  }
  if (src_is_ours) {
    SFMLA_RETURN_IF_ERROR(CheckOurs("aclrtMemcpyAsync: src", copy.src, copy.bytes, kCode));
  }
  const DeviceAccess access;
  std::memmove(copy.dst, copy.src, copy.bytes);
  return Status::Ok();
}

Status RunFill(const Fill& fill) {
  SFMLA_RETURN_IF_ERROR(
      CheckOurs("aclrtMemsetAsync: devPtr", fill.dst, fill.bytes, ACL_ERROR_RT_AICORE_EXCEPTION));
  const DeviceAccess access;
  std::memset(fill.dst, fill.value, fill.bytes);
  return Status::Ok();
}

}  // namespace

Status CheckCopy(const Copy& copy) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("dst", copy.dst));
  SFMLA_RETURN_IF_ERROR(RequirePointer("src", copy.src));
  if (copy.kind < ACL_MEMCPY_HOST_TO_HOST || copy.kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Str("kind: ", static_cast<int>(copy.kind), ", must be in [0, 5]"));
  }
  if (copy.dst_bytes < copy.bytes) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("destMax: ", copy.dst_bytes, ", must be at least count, ", copy.bytes));
  }
  constexpr int32_t kCode = ACL_ERROR_RT_PARAM_INVALID;
  SFMLA_RETURN_IF_ERROR(CheckStaysInside("dst", copy.dst, copy.bytes, kCode));
  SFMLA_RETURN_IF_ERROR(CheckStaysInside("src", copy.src, copy.bytes, kCode));
  return CheckSides(copy);
}

Status CopyNow(const Copy& copy, aclrtContext context) {
  SFMLA_RETURN_IF_ERROR(RefuseUnderCapture(context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
  WarnBeforeRead(copy.src, copy.bytes);
  const DeviceAccess access;
  std::memmove(copy.dst, copy.src, copy.bytes);
  return Status::Ok();
}

Status CopyInOrder(const Copy& copy, Stream* stream) {
  const bool dst_is_ours = LiesInOurs(copy.dst, copy.bytes);
  const bool src_is_ours = LiesInOurs(copy.src, copy.bytes);
  const bool pageable = !dst_is_ours || !src_is_ours;
  if (pageable && stream->RunsOnThisThread()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream: a copy of pageable memory by work of this very stream would wait for "
                  "itself");
  }
  if (pageable && CaptureOf(*stream) == nullptr) {
    SFMLA_RETURN_IF_ERROR(
        RefuseUnderCapture(stream->context(), ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
  }
  Task task;
  task.name = "aclrtMemcpyAsync";
  task.caller_waits = pageable;
  if (IsStrict()) task.writes = {{reinterpret_cast<uintptr_t>(copy.dst), copy.bytes}};
  task.run = [=] { return RunCopy(copy, dst_is_ours, src_is_ours); };
  const Result<uint64_t> position = stream->Submit(std::move(task));
  if (!position.ok()) return position.status();
  if (pageable) stream->WaitUntil(position.value(), Deadline());
  return Status::Ok();
}

Status CheckFill(const Fill& fill) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("devPtr", fill.dst));
  if (fill.bytes > fill.dst_bytes) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("count: ", fill.bytes, ", must be at most maxCount, ", fill.dst_bytes));
  }
  return CheckOurs("devPtr", fill.dst, fill.bytes, ACL_ERROR_RT_PARAM_INVALID);
}

Status FillNow(const Fill& fill, aclrtContext context) {
  SFMLA_RETURN_IF_ERROR(RefuseUnderCapture(context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
  const DeviceAccess access;
  std::memset(fill.dst, fill.value, fill.bytes);
  return Status::Ok();
}

Status FillInOrder(const Fill& fill, Stream* stream) {
  Task task;
  task.name = "aclrtMemsetAsync";
  task.run = [fill] { return RunFill(fill); };
  if (IsStrict()) task.writes = {{reinterpret_cast<uintptr_t>(fill.dst), fill.bytes}};
  return stream->Submit(std::move(task)).status();
}

}  // namespace sfmla
