// SPDX-License-Identifier: Apache-2.0
// Copies and fills, at once or in stream order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/stream.h"

namespace sfmla {

struct Copy {
  void* dst = nullptr;
  size_t dst_bytes = 0;  // destMax
  const void* src = nullptr;
  size_t bytes = 0;
  aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
};

// 100000: NULL, no such kind; 107000: does not fit, leaves its allocation, or a side that the kind
// says is on the device is in no memory of this library.
Status CheckCopy(const Copy& copy);
// Of a checked copy, at once. 107030: a capture in `context` forbids it.
Status CopyNow(const Copy& copy, aclrtContext context);
// Of a checked copy; waits for it if a side is pageable host memory. 107041: a capture forbids that
// wait; 107000: the stream is captured or runs on this thread and a side is pageable.
Status CopyInOrder(const Copy& copy, Stream* stream);

struct Fill {
  void* dst = nullptr;
  size_t dst_bytes = 0;  // maxCount
  int32_t value = 0;     // the low 8 bits count
  size_t bytes = 0;
};

// The same codes for a range that is filled; it must be in memory of this library.
Status CheckFill(const Fill& fill);
Status FillNow(const Fill& fill, aclrtContext context);
Status FillInOrder(const Fill& fill, Stream* stream);

}  // namespace sfmla
