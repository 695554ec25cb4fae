// SPDX-License-Identifier: Apache-2.0
// C functions: device and pinned memory, copies, fills.
#include <unistd.h>

#include <cstring>

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

Status CheckPolicy(aclrtMemMallocPolicy policy) {
  constexpr int kModifiers = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                             ACL_MEM_ACCESS_USER_SPACE_READONLY;
  const int page_policy = static_cast<int>(policy) & ~kModifiers;
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

struct Copy {
  void* dst;
  size_t dst_bytes;  // destMax
  const void* src;
  size_t bytes;
  aclrtMemcpyKind kind;
};

bool IsOurs(const void* address) { return FindAllocation(address).has_value(); }

// The range lies in memory of this library, the slack of its allocation included.
Status CheckOurs(const char* what, const void* address, size_t bytes, int32_t failure_code) {
  if (!IsOurs(address)) return CheckAccessible(what, address, bytes, failure_code);
  return CheckStaysInside(what, address, bytes, failure_code);
}

// A freed device address must not be taken for pageable memory.
Status CheckSides(const Copy& copy) {
  const int needed = copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE ? 2 : 1;
  const bool any = copy.kind == ACL_MEMCPY_HOST_TO_HOST || copy.kind == ACL_MEMCPY_DEFAULT;
  if (any || int{IsOurs(copy.dst)} + int{IsOurs(copy.src)} >= needed) return Status::Ok();
  const Status dst = CheckAccessible("dst", copy.dst, copy.bytes, ACL_ERROR_RT_PARAM_INVALID);
  const Status src = CheckAccessible("src", copy.src, copy.bytes, ACL_ERROR_RT_PARAM_INVALID);
  const bool src_is_device = copy.kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                             (copy.kind == ACL_MEMCPY_DEVICE_TO_DEVICE && dst.ok());
  return src_is_device ? src : dst;
}

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

Status CheckFill(const void* pointer, size_t max_bytes, size_t bytes) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("devPtr", pointer));
  if (bytes > max_bytes) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("count: ", bytes, ", must be at most maxCount, ", max_bytes));
  }
  return CheckOurs("devPtr", pointer, bytes, ACL_ERROR_RT_PARAM_INVALID);
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
  std::memmove(copy.dst, copy.src, copy.bytes);
  return Status::Ok();
}

Status CopyInOrder(const Copy& copy, Stream* stream) {
  const bool dst_is_ours = IsOurs(copy.dst);
  const bool src_is_ours = IsOurs(copy.src);
  const bool pageable = !dst_is_ours || !src_is_ours;
  if (pageable && stream->RunsOnThisThread()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream: a copy of pageable memory by work of this very stream would wait for "
                  "itself");
  }
  const Result<uint64_t> position =
      stream->Submit({Task::Kind::kWork, [=] { return RunCopy(copy, dst_is_ours, src_is_ours); }});
  if (!position.ok()) return position.status();
  if (pageable) stream->WaitUntil(position.value(), Deadline());
  return Status::Ok();
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return AclCall("aclrtMalloc", [&] {
    SFMLA_RETURN_IF_ERROR(CheckPolicy(policy));
    return AllocateInto(devPtr, "devPtr", MemoryKind::kDevice, size);
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

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return AclCall("aclrtMemcpy", [&] {
    if (count == 0) return Status::Ok();
    SFMLA_RETURN_IF_ERROR(CheckCopy({dst, destMax, src, count, kind}));
    SFMLA_RETURN_IF_ERROR(RequireContext());
    std::memmove(dst, src, count);
    return Status::Ok();
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return AclCall("aclrtMemcpyAsync", [&]() -> Status {
    if (count == 0) return Status::Ok();
    const Copy copy{dst, destMax, src, count, kind};
    SFMLA_RETURN_IF_ERROR(CheckCopy(copy));
    if (kind == ACL_MEMCPY_HOST_TO_HOST) {
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "kind: ACL_MEMCPY_HOST_TO_HOST, must involve the device");
    }
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    return CopyInOrder(copy, found.value().get());
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return AclCall("aclrtMemset", [&] {
    if (count == 0) return Status::Ok();
    SFMLA_RETURN_IF_ERROR(CheckFill(devPtr, maxCount, count));
    SFMLA_RETURN_IF_ERROR(RequireContext());
    std::memset(devPtr, value, count);
    return Status::Ok();
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return AclCall("aclrtMemsetAsync", [&]() -> Status {
    if (count == 0) return Status::Ok();
    SFMLA_RETURN_IF_ERROR(CheckFill(devPtr, maxCount, count));
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    return found.value()
        ->Submit({Task::Kind::kWork,
                  [=]() -> Status {
                    SFMLA_RETURN_IF_ERROR(CheckOurs("aclrtMemsetAsync: devPtr", devPtr, count,
                                                    ACL_ERROR_RT_AICORE_EXCEPTION));
                    std::memset(devPtr, value, count);
                    return Status::Ok();
                  }})
        .status();
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
