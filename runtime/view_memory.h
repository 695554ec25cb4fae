// SPDX-License-Identifier: Apache-2.0
// The memory that a strided view covers.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "runtime/device_memory.h"
#include "runtime/tensor.h"

namespace sfmla {

// Where the elements of a view lie, in bytes from its data address.
struct ViewBytes {
  int64_t begin = 0;
  int64_t end = 0;    // begin == end: no elements
  int64_t first = 0;  // element 0, which need not be the lowest
  int64_t element_bytes = 1;
};

// 507015 if that does not fit into 64 bits or the type has no whole bytes. Does not depend on the
// address.
Result<ViewBytes> CoveredBytes(const TensorDesc& desc);

// Ok if `data` is a multiple of the element size and all elements lie in one live allocation; a
// view without address or elements is. Whole views only: what part of it a kernel reads is the
// kernel's business. Otherwise `code` and a sentence that begins with `name`.
Status CheckViewMemory(const MemoryReader& memory, const char* name, const void* data,
                       const ViewBytes& view, int32_t code);

}  // namespace sfmla
