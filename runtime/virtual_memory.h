// SPDX-License-Identifier: Apache-2.0
// Device memory in two halves: addresses that are reserved, and physical memory mapped there.
#pragma once

#include <cstddef>

#include "acl/acl_rt.h"
#include "base/status.h"

namespace sfmla {

// What sizes and addresses are multiples of.
inline constexpr size_t kMapGranularityBytes = size_t{2} << 20;

// The codes of the C functions in acl_rt_virtual_memory.h.
Result<void*> ReserveAddresses(size_t bytes);
Status ReleaseAddresses(void* begin);
Result<aclrtDrvMemHandle> MallocPhysical(size_t bytes);
Status FreePhysical(aclrtDrvMemHandle handle);
Status MapPhysical(void* begin, size_t bytes, aclrtDrvMemHandle handle);
Status Unmap(void* begin);

}  // namespace sfmla
