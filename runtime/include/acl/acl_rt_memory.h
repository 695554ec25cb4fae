/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory, pinned host memory, copies. Part of acl_rt.h, which includes this header and says
 * what holds for all functions.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_MEMORY_H_
#define INC_EXTERNAL_ACL_ACL_RT_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------ constants, types

// Flags of aclrtHostRegisterV2, combined with |.
#define ACL_HOST_REG_MAPPED 0x2U         // accessible to the device
#define ACL_HOST_REG_IOMEMORY 0x4U       // not offered: 207000
#define ACL_HOST_REG_READONLY 0x8U       // the device only reads; not enforced
#define ACL_HOST_REG_PINNED 0x10000000U  // page-locked

// Direction of a copy. aclrtMemcpy and aclrtMemcpyAsync say which ones they take.
typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

// Page size wished for an allocation, with the or-able bits at the end. On the CPU device those
// with HUGE ask the system for transparent huge pages wherever one of 2 MiB fits into the
// allocation, and get ordinary pages elsewhere; memory is committed in pages of that size when it
// is first touched. The bits at the end have no effect.
typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000
} aclrtMemMallocPolicy;

// Pool that aclrtGetMemInfo reports. The CPU device has one: every enumerator gives the same
// answer.
typedef enum aclrtMemAttr {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

// What an address belongs to. UNREGISTERED is memory this library did not allocate or register.
typedef enum aclrtMemLocationType {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

// Way of registering host memory with aclrtHostRegister.
typedef enum aclrtHostRegisterType {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 0x04,
  ACL_HOST_REGISTER_READONLY = 0x08
} aclrtHostRegisterType;

// Cache hint; no function of this version takes it.
typedef enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

// A place in memory: device or NUMA node number, and what it is.
typedef struct aclrtMemLocation {
  uint32_t id;
  aclrtMemLocationType type;
} aclrtMemLocation;

// Answer of aclrtPointerGetAttributes; pageSize is in bytes, rsv is 0.
typedef struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize;
  uint32_t rsv[4];
} aclrtPtrAttributes;

// Places of some entries of a batch copy; rsv is 0.
typedef struct aclrtMemcpyBatchAttr {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

// Of an interface that this version does not offer.
typedef struct aclrtMemUsageInfo {
  char name[32];
  uint64_t curMemSize;
  uint64_t memPeakSize;
  size_t reserved[8];
} aclrtMemUsageInfo;

// ------------------------------------------------------------------------------------- functions

// Device memory, aligned to 512 bytes, not initialised; what is never written costs nothing. The 32
// bytes behind `size`, rounded up to 32, may be read and written too. Freed with aclrtFree only.
// Needs a context. 207001: beyond the budget (SFMLA_DEVICE_MEMORY, default the machine's memory) or
// the system has none left; *devPtr is NULL then. 100000: devPtr NULL, size 0 or too large to
// round, no such policy.
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

// At once, without waiting for work that uses it: synchronise first. Needs no context. 100000:
// NULL. 107000: not the start of a live device allocation (freed already, inside one, host memory).
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

// Pinned host memory, aligned to 512 bytes, not initialised: accessible to operators and to copies
// that do not wait. Not part of the budget. Needs a context. 207001: the system has none left.
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);
// As aclrtFree, for aclrtMallocHost.
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

// Makes host memory of the caller count as pinned, hence accessible to operators, until
// aclrtHostUnregister. The caller keeps it alive as long. No page is touched. 507910: it overlaps
// memory that is registered or allocated here. 207000: IOMEMORY. Needs a context.
// `devPtr` receives the address for the device, which on the CPU is `ptr` itself.
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                               void** devPtr);
// `flag`: 0 or ACL_HOST_REG_... combined; 100000: other bits.
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);
// Address for the device of an address in pinned memory; on the CPU the same one. `flag` must be 0:
// 100000. 507911: not pinned.
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);
// `ptr` as registered. 507911: nothing is registered there. Needs no context.
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

// What an address belongs to: device memory, pinned host memory, or neither (UNREGISTERED).
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr,
                                                       aclrtPtrAttributes* attributes);

// Copies and returns. It does not wait for streams: results of queued work need a synchronisation
// first. `kind`: HOST_TO_HOST to HOST_TO_BUF_TO_DEVICE (0 to 5); the direction is taken from the
// addresses, but HOST_TO_DEVICE and DEVICE_TO_HOST need at least one address in memory of this
// library, and DEVICE_TO_DEVICE two. count 0: nothing is looked at, 0. Needs a context. 100000:
// NULL, no such kind. 107000: destMax < count; a range that leaves its allocation; no memory of
// this library where the kind needs it (SFMLA_CHECK=off skips these two). A registered range of the
// caller may be left: what lies behind it is the caller's too. 107030: forbidden by a capture.
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

// The same in stream order. If both sides are device or pinned memory it returns at once, and both
// must stay valid until the stream has done it. Otherwise it waits until the stream has done it, so
// ordinary memory may be reused at once. 207000: HOST_TO_HOST. 107000 also: pageable memory in a
// host function of the same stream, or on a captured stream. 107041: pageable memory while a
// capture forbids waiting.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

// Copies sizes[i] bytes from srcs[i] to dsts[i] for each i below `numBatches`, directions taken
// from the addresses; nothing is copied unless all of them can be. attrs[k] describes the places of
// the entries from attrsIndexes[k] on; 1 to numBatches of them, the first at 0, ascending. What
// they say is not needed here and not compared. *failIndex: the entry that was refused, or
// SIZE_MAX. Codes of aclrtMemcpy.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs,
                                              size_t* sizes, size_t numBatches,
                                              aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                              size_t numAttrs, size_t* failIndex);
// The same in stream order, entry by entry as aclrtMemcpyAsync.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs,
                                                   size_t* sizes, size_t numBatches,
                                                   aclrtMemcpyBatchAttr* attrs,
                                                   size_t* attrsIndexes, size_t numAttrs,
                                                   size_t* failIndex, aclrtStream stream);

// Fills `count` bytes of device or pinned memory with the low 8 bits of `value`. count 0: nothing
// is looked at, 0. Does not wait for streams. 100000: NULL. 107000: count > maxCount, or a range
// that is not inside one allocation. 107030: forbidden by a capture. Needs a context.
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value,
                                         size_t count);
// The same in stream order.
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

// Budget of device memory and what is left of it, in bytes. Needs a context.
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

#ifdef __cplusplus
}
#endif

#endif
