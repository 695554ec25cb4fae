// SPDX-License-Identifier: Apache-2.0
// C functions: virtual memory management.
#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/refusals.h"
#include "runtime/virtual_memory.h"

using namespace sfmla;

namespace {

Status RequireZero(const char* name, uint64_t value) {
  if (value == 0) return Status::Ok();
  return Status(ACL_ERROR_INVALID_PARAM, Str(name, ": ", value, ", must be 0"));
}

bool IsDdr(aclrtMemAttr attribute) {
  return attribute == ACL_DDR_MEM || attribute == ACL_DDR_MEM_HUGE ||
         attribute == ACL_DDR_MEM_NORMAL || attribute == ACL_DDR_MEM_P2P_HUGE ||
         attribute == ACL_DDR_MEM_P2P_NORMAL;
}

Status CheckProperties(const aclrtPhysicalMemProp* prop) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("prop", prop));
  if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  Str("prop: location type ", static_cast<int>(prop->location.type),
                      ", must be ACL_MEM_LOCATION_TYPE_DEVICE"));
  }
  if (prop->memAttr < ACL_DDR_MEM || prop->memAttr > ACL_MEM_P2P_HUGE1G || IsDdr(prop->memAttr)) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Str("prop: memAttr ", static_cast<int>(prop->memAttr),
                      ", must be an aclrtMemAttr of device memory (not ACL_DDR_...)"));
  }
  if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "prop: handleType, memory is not shared between processes here");
  }
  return CheckDevice("prop: location id", prop->location.id);
}

}  // namespace

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  return AclCall("aclrtMemGetAllocationGranularity", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("granularity", granularity));
    SFMLA_RETURN_IF_ERROR(CheckProperties(prop));
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
      return Status(ACL_ERROR_INVALID_PARAM, Str("option: ", static_cast<int>(option),
                                                 ", must be MINIMUM (0) or RECOMMENDED (1)"));
    }
    *granularity = kMapGranularityBytes;
    return Status::Ok();
  });
}

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return AclCall("aclrtReserveMemAddress", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("virPtr", virPtr));
    SFMLA_RETURN_IF_ERROR(RequireZero("alignment", alignment));
    SFMLA_RETURN_IF_ERROR(RequireZero("expectPtr", reinterpret_cast<uintptr_t>(expectPtr)));
    if (flags != 1) SFMLA_RETURN_IF_ERROR(RequireZero("flags", flags));
    SFMLA_RETURN_IF_ERROR(CurrentContext().status());
    const Result<void*> reserved = ReserveAddresses(size);
    if (reserved.ok()) *virPtr = reserved.value();
    return reserved.status();
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return AclCall("aclrtReleaseMemAddress", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("virPtr", virPtr));
    return ReleaseAddresses(virPtr);
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return AclCall("aclrtMallocPhysical", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("handle", handle));
    SFMLA_RETURN_IF_ERROR(CheckProperties(prop));
    SFMLA_RETURN_IF_ERROR(RequireZero("flags", flags));
    SFMLA_RETURN_IF_ERROR(CurrentContext().status());
    const Result<aclrtDrvMemHandle> memory = MallocPhysical(size);
    if (memory.ok()) *handle = memory.value();
    return memory.status();
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return AclCall("aclrtFreePhysical", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("handle", handle));
    return FreePhysical(handle);
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return AclCall("aclrtMapMem", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("virPtr", virPtr));
    SFMLA_RETURN_IF_ERROR(RequirePointer("handle", handle));
    SFMLA_RETURN_IF_ERROR(RequireZero("offset", offset));
    SFMLA_RETURN_IF_ERROR(RequireZero("flags", flags));
    return MapPhysical(virPtr, size, handle);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return AclCall("aclrtUnmapMem", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("virPtr", virPtr));
    return Unmap(virPtr);
  });
}
