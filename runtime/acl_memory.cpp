// SPDX-License-Identifier: Apache-2.0
// C functions: device and pinned memory.
#include <unistd.h>

#include "acl/acl_rt.h"
#include "runtime/allocator.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/refusals.h"

using namespace sfmla;

namespace {

Status RequireContext() { return CurrentContext().status(); }

Status RequireSize(uint64_t bytes) {
  if (bytes > 0) return Status::Ok();
  return Status(ACL_ERROR_INVALID_PARAM, "size: 0, must be at least 1 byte");
}

int PagePolicy(aclrtMemMallocPolicy policy) {
  constexpr int kModifiers = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                             ACL_MEM_ACCESS_USER_SPACE_READONLY;
  return static_cast<int>(policy) & ~kModifiers;
}

bool WantsHugePages(aclrtMemMallocPolicy policy) {
  return PagePolicy(policy) != ACL_MEM_MALLOC_NORMAL_ONLY &&
         PagePolicy(policy) != ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
}

Status CheckPolicy(aclrtMemMallocPolicy policy) {
  const int page_policy = PagePolicy(policy);
  if (page_policy >= 0 && page_policy <= ACL_MEM_MALLOC_HUGE1G_ONLY_P2P) return Status::Ok();
  return Status(ACL_ERROR_INVALID_PARAM,
                Str("policy: ", static_cast<int>(policy), ", must be an aclrtMemMallocPolicy"));
}

Status AllocateInto(void** out, const char* name, MemoryKind kind, size_t bytes) {
  SFMLA_RETURN_IF_ERROR(RequirePointer(name, out));
  SFMLA_RETURN_IF_ERROR(RequireSize(bytes));
  SFMLA_RETURN_IF_ERROR(RequireContext());
  *out = nullptr;
  Result<void*> memory = Allocate(kind, bytes);
  if (memory.ok()) *out = memory.value();
  return memory.status();
}

Status RegisterRange(void* pointer, uint64_t bytes) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("ptr", pointer));
  SFMLA_RETURN_IF_ERROR(RequireSize(bytes));
  SFMLA_RETURN_IF_ERROR(RequireContext());
  return RegisterHost(pointer, bytes);
}

Status NoIoMemory(const char* name) {
  return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                Str(name, ": IOMEMORY, the CPU device takes ordinary memory only"));
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return AclCall("aclrtMalloc", [&] {
    SFMLA_RETURN_IF_ERROR(CheckPolicy(policy));
    SFMLA_RETURN_IF_ERROR(AllocateInto(devPtr, "devPtr", MemoryKind::kDevice, size));
    if (WantsHugePages(policy)) AskForHugePages(*devPtr, size);
    return Status::Ok();
  });
}

aclError aclrtFree(void* devPtr) {
  return AclCall("aclrtFree", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("devPtr", devPtr));
    return Free(MemoryKind::kDevice, devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return AclCall("aclrtMallocHost",
                 [&] { return AllocateInto(hostPtr, "hostPtr", MemoryKind::kPinnedHost, size); });
}

aclError aclrtFreeHost(void* hostPtr) {
  return AclCall("aclrtFreeHost", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("hostPtr", hostPtr));
    return Free(MemoryKind::kPinnedHost, hostPtr);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return AclCall("aclrtHostRegister", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("devPtr", devPtr));
    if (type == ACL_HOST_REGISTER_IOMEMORY) return NoIoMemory("type");
    if (type != ACL_HOST_REGISTER_MAPPED && type != ACL_HOST_REGISTER_READONLY) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    Str("type: ", static_cast<int>(type), ", must be an aclrtHostRegisterType"));
    }
    SFMLA_RETURN_IF_ERROR(RegisterRange(ptr, size));
    *devPtr = ptr;
    return Status::Ok();
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return AclCall("aclrtHostRegisterV2", [&]() -> Status {
    constexpr uint32_t kKnown =
        ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
    if ((flag & ~kKnown) != 0) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    Str("flag: ", flag, ", must be ACL_HOST_REG_... combined"));
    }
    if ((flag & ACL_HOST_REG_IOMEMORY) != 0) return NoIoMemory("flag");
    return RegisterRange(ptr, size);
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return AclCall("aclrtHostGetDevicePointer", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("pHost", pHost));
    SFMLA_RETURN_IF_ERROR(RequirePointer("pDevice", pDevice));
    if (flag != 0) return Status(ACL_ERROR_INVALID_PARAM, Str("flag: ", flag, ", must be 0"));
    const std::optional<Allocation> allocation = FindAllocation(pHost);
    if (!allocation || allocation->kind != MemoryKind::kPinnedHost) {
      return Status(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                    Str("pHost: ", pHost, " is not in pinned host memory"));
    }
    *pDevice = pHost;
    return Status::Ok();
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return AclCall("aclrtHostUnregister", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("ptr", ptr));
    return UnregisterHost(ptr);
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return AclCall("aclrtPointerGetAttributes", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("ptr", ptr));
    SFMLA_RETURN_IF_ERROR(RequirePointer("attributes", attributes));
    const std::optional<Allocation> allocation = FindAllocation(ptr);
    *attributes = {};
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    if (allocation) {
      attributes->location.type = allocation->kind == MemoryKind::kDevice
                                      ? ACL_MEM_LOCATION_TYPE_DEVICE
                                      : ACL_MEM_LOCATION_TYPE_HOST;
    }
    attributes->pageSize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
    return Status::Ok();
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return AclCall("aclrtGetMemInfo", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("free", free));
    SFMLA_RETURN_IF_ERROR(RequirePointer("total", total));
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    Str("attr: ", static_cast<int>(attr), ", must be an aclrtMemAttr"));
    }
    SFMLA_RETURN_IF_ERROR(RequireContext());
    const MemoryInfo info = DeviceMemoryInfo();
    *free = info.free_bytes;
    *total = info.total_bytes;
    return Status::Ok();
  });
}
