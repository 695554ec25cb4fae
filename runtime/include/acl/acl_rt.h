/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime: initialisation, devices, contexts, error text. Memory, streams and events, graphs,
 * and virtual memory management have headers of their own, acl_rt_memory.h, acl_rt_stream.h,
 * acl_rt_graph.h and acl_rt_virtual_memory.h, which this header includes; what it says below holds
 * for them too.
 *
 * Device memory on the CPU device is ordinary memory, but treat it as a card's: only addresses from
 * aclrtMalloc, aclrtMallocHost or a registered host range are accessible to operators, and results
 * are there only after a synchronisation.
 *
 * Conventions, unless a function says otherwise:
 *   - sizes are bytes; timeouts are milliseconds, -1 waits for ever, 0 and less than -1 are
 *     refused;
 *   - output arguments are written on success only;
 *   - 100000: a required pointer is NULL, a size is 0, or a number is no enumerator;
 *   - 107000: a value that is not allowed, a stream or event that was destroyed, or another kind of
 *     handle; 107002: no current context, or a destroyed one;
 *   - a stream or event must belong to the current context: 107003. The synchronising and querying
 *     functions accept those of any context;
 *   - stream NULL is the default stream of the current context;
 *   - while a stream is captured into a graph, functions that wait for it, query it or destroy it
 *     answer 107027, see acl_rt_graph.h;
 *   - every function may be called from any thread. Thread-local are only the current context, the
 *     capture mode, subscriptions to callbacks and the error text;
 *   - fork() is safe at any time. The child keeps memory, contexts and descriptors as they were and
 *     gets new default streams. Streams, events, graphs and executors of the parent are refused
 *     there, as destroyed ones are; what was queued is not done there. Work of a stream (a host
 *     function) that forks must end the child itself, with exec or _exit.
 */
#ifndef INC_EXTERNAL_ACL_ACL_RT_H_
#define INC_EXTERNAL_ACL_ACL_RT_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "acl/acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------ constants

// Flags of aclrtCreateEventWithFlag and aclrtCreateEventExWithFlag, combined with |.
#define ACL_EVENT_SYNC 0x00000001U                     // for order between streams
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U  // accepted, no effect
#define ACL_EVENT_TIME_LINE 0x00000008U                // takes time stamps
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U          // accepted, no effect
#define ACL_EVENT_EXTERNAL 0x00000020U                 // links a graph with streams outside of it
#define ACL_EVENT_IPC 0x00000040U                      // not offered: 207000

// Flags of recording and waiting with a flag; no function of this version takes them.
#define ACL_EVENT_RECORD_DEFAULT 0x0U
#define ACL_EVENT_RECORD_EXTERNAL 0x1U
#define ACL_EVENT_WAIT_DEFAULT 0x0U
#define ACL_EVENT_WAIT_EXTERNAL 0x1U

// Flags of aclrtCreateStreamWithConfig, combined with |. All are accepted and change nothing here.
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

// Modes of aclrtSetStreamFailureMode.
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

// Comparisons of a wait for a value; no function of this version takes them.
#define ACL_STREAM_WAIT_VALUE_GEQ 0x0U
#define ACL_STREAM_WAIT_VALUE_EQ 0x1U
#define ACL_STREAM_WAIT_VALUE_AND 0x2U
#define ACL_STREAM_WAIT_VALUE_NOR 0x3U

// Detail of a graph dump; no function of this version takes them.
#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0x0U
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 0x1U

// --------------------------------------------------------------------------------- enumerations

// Whether the calling program runs on the card itself or on a host with a card.
typedef enum aclrtRunMode { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;

// State of a device; no function of this version takes it.
typedef enum aclrtDeviceStatus {
  ACL_RT_DEVICE_STATUS_NORMAL = 0,
  ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
  ACL_RT_DEVICE_STATUS_END = 0xFFFF
} aclrtDeviceStatus;

// Resource that aclrtSetDeviceResLimit caps.
typedef enum aclrtDevResLimitType {
  ACL_RT_DEV_RES_CUBE_CORE = 0,
  ACL_RT_DEV_RES_VECTOR_CORE = 1
} aclrtDevResLimitType;

// Process-wide options; no function of this version takes them. Operators are always deterministic.
typedef enum aclSysParamOpt {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2,
  ACL_OPT_ENABLE_KERNEL_EARLY_START = 3
} aclSysParamOpt;

// Fact about a device, see aclrtGetDeviceInfo.
typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_WARP_SIZE = 202,
  ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_IS_VIRTUAL = 501,
  ACL_DEV_ATTR_NPU_ARCH = 601
} aclrtDevAttr;

// Overflow behaviour of the device; no function of this version takes it. Operators here keep
// infinities and NaN.
typedef enum aclrtFloatOverflowMode {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

// Scope of a last-error query; no function of this version takes it.
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

// Answer of aclrtQueryEventStatus. Mind that COMPLETE is 1 here and 0 in the enumerations below.
typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

// Answers of older event queries; no function of this version takes them.
typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;
typedef enum aclrtEventWaitStatus {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF
} aclrtEventWaitStatus;

// Answer of aclrtStreamQuery.
typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

// Whether a stream waits for a callback, see aclrtLaunchCallback.
typedef enum aclrtCallbackBlockType {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1
} aclrtCallbackBlockType;

// Attribute of a stream; no function of this version takes it.
typedef enum aclrtStreamAttr {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
  ACL_STREAM_ATTR_PRIORITY = 5
} aclrtStreamAttr;

// ------------------------------------------------------------------------------------ structures

// Structures of interfaces that this version does not offer.
typedef struct aclrtStreamConfigHandle {
  void* workptr;
  size_t workSize;
  size_t flag;
  uint32_t priority;
} aclrtStreamConfigHandle;
typedef union aclrtStreamAttrValue {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t streamPriority;
  uint32_t reserve[4];
} aclrtStreamAttrValue;

// ---------------------------------------------------------------------- start, end, error text

// Call once before the rest. `configPath`: NULL, "" or the path of a JSON file. Keys that are read:
//   "defaultDevice": {"default_device": "0"}   device that a thread uses which never set one
//   "err_msg_mode": "0" or "1"                 error text per thread (0, default) or per process
// Other keys are left alone. 100002: called before; harmless, counted, the configuration stays.
// 100000: called before with another configuration; an environment variable of the library has a
// value that means nothing (the text names it); a key above has a value that means nothing. 100003:
// the file cannot be read. 100006: not JSON.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

// Ends what aclInit began, however often it was called. Device memory, contexts and handles stay
// valid, and aclInit may be called again. What is alive is counted in one warning in the log (see
// aclAppLog). Without an aclInit ever: 0. A second time in a row:
// 100037.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

// Takes back one aclInit; the last one finalises. `refCount`, which may be NULL, receives the
// number of aclInit calls left. 100037: none was left.
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

// The errors of this thread since the last call, newest first, or NULL if there was none. Reading
// clears them. The string belongs to the library and is valid until the next call on the thread.
// Each report is a line
//     <report>[PID: <pid>] YYYY-MM-DD-hh:mm:ss.mmm.uuu <Title>(<report>): <sentence>
// where <report> is EHxxxx (acl), EExxxx (runtime) or EZxxxx (operators), followed by two lines
//     "        TraceBack (most recent call last):" and "        <function that failed>".
// An error that a stream kept is reported on the thread whose synchronisation found it.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

// --------------------------------------------------------------------------------------- devices

// Number of devices: 1, the CPU; 0 where ASCEND_RT_VISIBLE_DEVICES does not begin with 0. Needs no
// context.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

// Makes the primary context of the device current on this thread, creating it if there is none. All
// threads share it. Calls are counted. 107001: no such device. 100000: an environment variable of
// the library has a value that means nothing.
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

// Takes back one aclrtSetDevice of any thread. The last one waits for the queued work and destroys
// every context of the device with its streams and events; device memory stays. 107001: no such
// device. 107002: nothing left to take back. 107000: called by a host function on a stream of the
// device.
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

// The same whatever the count.
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

// Device of the current context; 107002 without one.
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

// ACL_HOST: programs copy between host and device. Needs no context.
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

// Waits for everything queued so far on all streams of the current context's device. Returns the
// error of the first created among the streams of the current context that kept one, with the
// sentences of all in the text; they are cleared. 107000: called by a host function on one of the
// streams.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);
// 507046: not done in time.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

// A fact about the device: cube cores (ACL_DEV_ATTR_AICORE_CORE_NUM, ACL_DEV_ATTR_CUBE_CORE_NUM)
// and vector cores that schedules are planned for, host threads that operators use
// (ACL_DEV_ATTR_AICPU_CORE_NUM), the memory budget in bytes, the last-level cache in bytes, chip
// number 0, not virtual (0). 107001: no such device. 207000: a CPU has no such thing. Needs no
// context.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr,
                                                int64_t* value);

// The older way to ask for cube cores, vector cores and last-level cache, with the same codes;
// 100000 for another enumerator.
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t* value);
// What the platform can do: infinities and NaN (1), bfloat16 (1), operators compiled on demand (0).
// The list of enumerators belongs to the library. 100000: another enumerator.
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

// Caps the cores that phase one plans for, for the whole process, until it is set again or the
// device is reset. `value`: 1 to the number of cores of that type that aclrtGetDeviceInfo reports.
// Results do not depend on it. 107000: another value. 107001: no such device. Needs no context.
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t value);
// The cap, or the number of cores where there is none.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t* value);

// Whether one device reaches the memory of another: 1 for two different devices. 100000: the same
// device twice. 107001: no such device. Needs no context.
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);
// Needs a context; nothing to do on a CPU. `flags` must be 0: 200006. 100000: the current device
// itself. 107001: no such device.
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

// -------------------------------------------------------------------------------------- contexts

// A new context with a default stream of its own; it becomes current on this thread. 107001: no
// such device. 100000: an environment variable of the library has a value that means nothing.
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

// Waits for its queued work, then destroys the context with its streams and events. Threads where
// it is current have no context afterwards. 107002: not a live context, or the primary one of a
// device. 107000: called by a host function on one of its streams.
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

// Makes it current on this thread. 107002: not a live context.
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

// The stream that NULL stands for. It cannot be destroyed.
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

#ifdef __cplusplus
}
#endif

#include "acl/acl_rt_graph.h"
#include "acl/acl_rt_memory.h"
#include "acl/acl_rt_stream.h"
#include "acl/acl_rt_virtual_memory.h"

#endif
