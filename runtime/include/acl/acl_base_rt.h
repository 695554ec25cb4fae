/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base types of the C interface: status codes, handles, data types, formats, and the few functions
 * that need neither a device nor a context.
 *
 * Rules that hold for every function of the acl and aclnn headers, unless its comment says
 * otherwise:
 *   - it returns ACL_SUCCESS (0) or a positive code, never throws and never ends the process;
 *   - after a code other than 0, aclGetRecentErrMsg() on the same thread has a sentence about it;
 *   - it may be called from any thread;
 *   - arrays and strings that are passed in are copied before it returns.
 *
 * Handles are opaque values, not addresses: they must not be dereferenced or computed with. A
 * handle that was destroyed, or is of another kind, is recognised and refused, also when its slot
 * has been given to a new object.
 */
#ifndef INC_EXTERNAL_ACL_ACL_BASE_RT_H_
#define INC_EXTERNAL_ACL_ACL_BASE_RT_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------- basic types

// Status of the acl functions: 0 or one of the codes below and in error_codes/rt_error_codes.h.
typedef int aclError;

// A half-precision number as its 16 bits (1 sign, 5 exponent, 10 fraction).
typedef uint16_t aclFloat16;

// An ordered queue of work. NULL stands for the default stream of the current context.
typedef void* aclrtStream;
// A position in a stream that other streams and the host can wait for.
typedef void* aclrtEvent;
// What a thread works in: a device, its default stream and the streams made there.
typedef void* aclrtContext;

// A captured graph, and operators in it that can be given new arguments together.
typedef void* aclmdlRI;
typedef void* aclrtTaskGrp;

// Physical device memory, see acl_rt_virtual_memory.h.
typedef void* aclrtDrvMemHandle;
typedef struct aclDataBuffer aclDataBuffer;

// The handles below belong to interfaces that this version does not offer.
typedef void* aclmdlRITask;
typedef void* aclrtNotify;
typedef void* aclrtCntNotify;
typedef void* aclrtLabel;

// A function that a stream runs on the host, with the pointer given when it was queued.
typedef void (*aclrtCallback)(void* userData);
typedef void (*aclrtHostFunc)(void* args);

// --------------------------------------------------------------------------------- status codes

// The first digit is the class: 1 the caller's mistake, 2 the environment or a resource, 3 a limit,
// 5 internal or device. Codes without a note exist for source compatibility: this library does not
// return them.
static const int ACL_SUCCESS = 0;
static const int ACL_ERROR_NONE = 0;
// Returned here: NULL pointer, size 0 or a number that is no enumerator.
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_UNINITIALIZE = 100001;
// Returned here: aclInit was called before; harmless, the call is counted.
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;
// Returned here: the configuration file cannot be read.
static const int ACL_ERROR_INVALID_FILE = 100003;
static const int ACL_ERROR_WRITE_FILE = 100004;
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005;
// Returned here: the configuration file is not valid JSON.
static const int ACL_ERROR_PARSE_FILE = 100006;
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007;
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008;
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
static const int ACL_ERROR_INVALID_MODEL_ID = 100011;
static const int ACL_ERROR_DESERIALIZE_MODEL = 100012;
static const int ACL_ERROR_PARSE_MODEL = 100013;
static const int ACL_ERROR_READ_MODEL_FAILURE = 100014;
static const int ACL_ERROR_MODEL_SIZE_INVALID = 100015;
static const int ACL_ERROR_MODEL_MISSING_ATTR = 100016;
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
static const int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
static const int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
static const int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
static const int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
static const int ACL_ERROR_OP_NOT_FOUND = 100024;
static const int ACL_ERROR_OP_LOAD_FAILED = 100025;
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027;
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
static const int ACL_ERROR_KERNEL_NOT_FOUND = 100029;
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
static const int ACL_ERROR_INVALID_QUEUE_ID = 100032;
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
// Returned here: finalised already.
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;
static const int ACL_ERROR_NOT_STATIC_AIPP = 100038;
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039;
static const int ACL_ERROR_GROUP_NOT_SET = 100040;
static const int ACL_ERROR_GROUP_NOT_CREATE = 100041;
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042;
static const int ACL_ERROR_PROF_NOT_RUN = 100043;
static const int ACL_ERROR_DUMP_ALREADY_RUN = 100044;
static const int ACL_ERROR_DUMP_NOT_RUN = 100045;
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
static const int ACL_ERROR_PROF_API_CONFLICT = 148047;
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
static const int ACL_ERROR_INVALID_OPP_PATH = 148049;
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
static const int ACL_ERROR_UNSUPPORTED_JPEG = 148052;
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;
// Returned here: no host memory left.
static const int ACL_ERROR_BAD_ALLOC = 200000;
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;
static const int ACL_ERROR_INVALID_DEVICE = 200002;
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
// Returned here: a reserved argument is not 0.
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000;
// Returned here: a defect of this library.
static const int ACL_ERROR_INTERNAL_ERROR = 500000;
static const int ACL_ERROR_FAILURE = 500001;
static const int ACL_ERROR_GE_FAILURE = 500002;
static const int ACL_ERROR_RT_FAILURE = 500003;
static const int ACL_ERROR_DRV_FAILURE = 500004;
static const int ACL_ERROR_PROFILING_FAILURE = 500005;

// ----------------------------------------------------------------------------------- data types

// Element type of a tensor or scalar. The numbers are the contract.
typedef enum {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41
} aclDataType;

// Memory format of a tensor. Operators of this library take plain row-major order, for which
// ACL_FORMAT_ND is the neutral name.
typedef enum {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47,
  ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
  ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
  ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
  ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
  ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

// Where an operand of a model lives; no function of this library takes it.
typedef enum {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

// Severity of a log line.
typedef enum { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

// A fact about a device, see aclGetDeviceCapability in acl_rt.h.
typedef enum {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

// A capability of the platform, see aclGetCannAttribute in acl_rt.h.
typedef enum {
  ACL_CANN_ATTR_UNDEFINED = -1,
  ACL_CANN_ATTR_INF_NAN = 0,
  ACL_CANN_ATTR_BF16 = 1,
  ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;

// ------------------------------------------------------------------------------------ functions

// Bytes of one element: 1, 2, 4, 8 or 16. Two conventions of the platform are kept:
// ACL_DT_UNDEFINED and ACL_STRING give 0, and every number without a whole-byte size of its own
// (the 6- and 4-bit floats, unknown numbers) gives 8. ACL_INT4 and ACL_UINT1 give 1.
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

// Half to single precision. Exact for every finite value. The platform's convention for the others
// is kept: infinities become 65536 with their sign, NaN becomes 98304 (with its sign).
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

// Single to half precision, rounded to nearest, ties to even. Saturating: magnitudes that round
// beyond 65504, and infinities, become 65504 (0x7BFF) with their sign; NaN becomes 0x7BFF.
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

// Writes one printf-style line to the log: standard error, or standard output where the environment
// variable ASCEND_LOG_PRINT_TO_STDOUT is 1. Only levels from ASCEND_GLOBAL_LOG_LEVEL on are written
// (0 debug, 1 info, 2 warning, 3 error), without the variable none. Lines are cut at 2 KiB. `func`
// and `file` may be NULL; fmt NULL or an unknown level writes nothing.
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file,
                                   uint32_t line, const char* fmt, ...);
#define ACL_APP_LOG(level, ...) aclAppLog(level, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)

// A buffer and its size as one object, for interfaces that take such pairs. It never owns the
// buffer. Create: NULL if there is no host memory. Destroy, update: 100000 for NULL or a destroyed
// one. Address and sizes: NULL and 0 then; aclGetDataBufferSize cuts to 32 bits.
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data,
                                                 size_t size);
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);

// Name of the chip, never NULL, owned by the library. The CPU device says "HostCPU". Needs neither
// aclInit nor a context.
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);

#ifdef __cplusplus
}
#endif

#endif
