/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: physical device memory mapped at reserved addresses. Part of acl_rt.h,
 * which includes this header.
 *
 *     aclrtReserveMemAddress(&base, 1 << 30, 0, NULL, 0);
 *     aclrtMallocPhysical(&memory, 2 << 20, &prop, 0);
 *     aclrtMapMem(base, 2 << 20, 0, memory, 0);       // [base, base + 2 MiB) is device memory now
 *     ...
 *     aclrtUnmapMem(base);                            // the addresses stay reserved
 *     aclrtFreePhysical(memory);
 *     aclrtReleaseMemAddress(base);
 *
 * Mapped memory is device memory like that of aclrtMalloc, with zeros at first; mappings next to
 * each other count as one piece. Sizes and addresses are multiples of 2 MiB, the granularity.
 * Mapping the same memory elsewhere keeps its contents.
 *
 * 100000 everywhere: a required pointer is NULL, a size is no positive multiple of the granularity,
 * or a reserved argument has another value than the one it is said to have.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_VIRTUAL_MEMORY_H_
#define INC_EXTERNAL_ACL_ACL_RT_VIRTUAL_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_rt.h"
#include "acl/acl_rt_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

// Kinds, handles and granularities. Only ACL_MEM_HANDLE_TYPE_NONE is offered: 207000.
typedef enum aclrtMemAllocationType { ACL_MEM_ALLOCATION_TYPE_PINNED = 0 } aclrtMemAllocationType;
typedef enum aclrtMemHandleType {
  ACL_MEM_HANDLE_TYPE_NONE = 0,
  ACL_MEM_HANDLE_TYPE_POSIX = 2
} aclrtMemHandleType;
typedef enum aclrtMemGranularityOptions {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
  ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF
} aclrtMemGranularityOptions;
// No function of this version takes it.
typedef enum aclrtMemSharedHandleType {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 0x1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 0x2
} aclrtMemSharedHandleType;

// What physical memory is wanted: `location` a device (207000: another place; 107001: no such
// device), `memAttr` any but those of DDR memory (100000).
typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;
  aclrtMemAllocationType allocationType;
  aclrtMemAttr memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
} aclrtPhysicalMemProp;

// 2 MiB for both options. Needs no context.
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t* granularity);

// Addresses without memory: touching them is a fault. `alignment` is 0, `expectPtr` NULL, `flags` 0
// or 1. 207001: none left. Needs a context.
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                                    void* expectPtr, uint64_t flags);
// `virPtr` as reserved. 107000: not the start of a reserved range, or memory is mapped there.
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void* virPtr);

// Memory without an address, zeroed; it counts against the budget of device memory until it is
// freed and unmapped everywhere. `flags` is 0. 207001: beyond the budget, or none left. Needs a
// context.
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                 const aclrtPhysicalMemProp* prop, uint64_t flags);
// Ends the handle; mappings of the memory stay. 107000: not a live handle.
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

// Maps the first `size` bytes of the memory. `offset` and `flags` are 0. 107000: not a live handle,
// more than the memory has, not inside one reserved range, or something is mapped there.
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void* virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags);
// At once, without waiting for work that uses it. 107000: not the start of a mapping.
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void* virPtr);

#ifdef __cplusplus
}
#endif

#endif
