/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that operators take (tensors, scalars, arrays, lists) and the executor between the
 * two phases of an operator.
 *
 * An operator Xxx is called in two steps:
 *
 *     uint64_t bytes = 0;
 *     aclOpExecutor* executor = NULL;
 *     aclnnXxxGetWorkspaceSize(..., &bytes, &executor);  // checks; reads no device memory
 *     void* workspace = NULL;
 *     if (bytes > 0) aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
 *     aclnnXxx(workspace, bytes, executor, stream);      // queues the work and returns
 *     aclrtSynchronizeStream(stream);                    // outputs are ready; late errors show
 *
 * Lifetimes
 *   - A descriptor owns copies of its shape and values, never the device memory it points to.
 *   - Descriptors given to phase one stay alive until phase two has returned; they may be destroyed
 *     then, although the work has not run. Those of a repeatable executor stay alive as long as it.
 *   - Device memory (operands, workspace) stays valid until the stream has run the work. A
 *     workspace may be shared by calls on one stream: the stream orders its uses.
 *   - Phase two that succeeds consumes the executor, unless it was made repeatable. Phase two that
 *     fails leaves it usable; aclDestroyAclOpExecutor drops it.
 *
 * Handles are opaque values that must not be dereferenced (see acl/acl_base_rt.h); a destroyed one
 * is refused: NULL for creating functions, 161002 for the others.
 *
 * Threads: any function from any thread. Phase one and phase two of one executor may run on
 * different threads, one after the other. Different executors are independent.
 */
#ifndef OP_API_OP_API_COMMON_INC_EXTERNAL_ACL_META_H_
#define OP_API_OP_API_COMMON_INC_EXTERNAL_ACL_META_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ACLNN_META
#define ACLNN_META
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

// Status of the aclnn functions: 0 or one of the codes in opdev/op_errno.h.
typedef int32_t aclnnStatus;
#endif

#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#endif

// -------------------------------------------------------------------------------------- creation

// Describes a view of device memory. Returns NULL on error, with a text in aclGetRecentErrMsg().
//
//   viewDims, viewDimsNum        extents of the view. No dims: a scalar tensor of one element. An
//                                extent of 0: an empty tensor, whose data may be NULL. An absent
//                                optional operand is a NULL aclTensor*, not an empty tensor.
//   dataType, format             stored as given; the operator checks them.
//   stride                       elements between neighbours along each axis, viewDimsNum numbers;
//                                NULL: row-major without gaps. 0 and overlaps are allowed.
//   offset                       elements from tensorData to element 0 of the view.
//   storageDims, storageDimsNum  extents of the buffer. Stored, never compared with the view.
//   tensorData                   start of the buffer on the device, before `offset`; borrowed. NULL
//                                is allowed for empty tensors and while planning.
//
// Refused: viewDims or storageDims NULL with a count above 0; a count above 1024 [here]; no host
// memory.
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t* stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum,
                                               void* tensorData);

// Describes a view anew in an existing tensor. viewDims NULL (or no dims) keeps the shape, stride
// NULL means row-major without gaps, storageDims NULL and tensorData NULL keep what the tensor has;
// type, offset and format are replaced. Only between phase two and the next phase one that uses the
// tensor, never while another thread uses it. 161001: tensor NULL. 161002: not a live tensor, more
// than 1024 dims.
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t* stride, int64_t offset,
                                              aclFormat format, const int64_t* storageDims,
                                              uint64_t storageDimsNum, void* tensorDataAddr);

// Copies one value of `dataType` (aclDataTypeSize bytes). Returns NULL if `value` is NULL or the
// type has no size.
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);

// Copies of `size` values. `value` NULL or `size` 0 gives an empty array, not NULL. Returns NULL if
// `size` exceeds 2147483647 [here].
ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);

// Lists own their elements: destroying the list destroys them. Elements may be NULL. An element
// that was destroyed on its own no longer counts. `value` NULL or `size` 0 gives an empty list.
// Returns NULL if an element is not a live handle of the right kind, or `size` exceeds 2147483647.
ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value,
                                                       uint64_t size);
ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value,
                                                       uint64_t size);

// ----------------------------------------------------------------------------------- destruction

// NULL: nothing to do, 0. 161002: not a live handle of this kind (destroyed before, on its own or
// with its list). Device memory is not freed.
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
// The list and every element that is still alive.
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);

// --------------------------------------------------------------------------------------- queries
// All: 161001 if an argument is NULL, 161002 if the handle is not alive; nothing is written then.

// The three functions below allocate the array they return with C++ `new int64_t[n]`; the caller
// frees it with `delete[]`. A tensor without dims gives an array without elements, not NULL.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                                uint64_t* viewDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);
// In elements; those that stand for a NULL `stride` are the row-major ones.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);

// In elements.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

// Numbers of elements. Lists count NULL elements, and leave out those destroyed on their own.
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList,
                                                     uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList,
                                                     uint64_t* size);

// The start of the buffer as given at creation: the view offset is not applied. Setting it is
// allowed before phase one and after phase two of the executors that use the tensor; `addr` may be
// NULL.
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

// ------------------------------------------------------------------------------------- executors

// Makes the executor usable for any number of phase twos, on any streams and with any workspaces,
// but not two at the same time. Call it between phase one and the first phase two. Each run reads
// the addresses of the tensors again. 561103: NULL. 561000: not a live executor.
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

// Drops a repeatable executor, or one that was never run. Work that it queued still runs. Not
// needed after the successful phase two of a single-use executor. 561103: NULL. 561000: not a live
// executor.
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

// Gives an operand of a repeatable executor another buffer: sets the start address of `tensor` to
// `addr` and makes `tensor` the operand number `index` of the executor; shape and type stay those
// of phase one. `index` counts the tensor parameters of the operator in their order, an absent
// optional one keeps its number: inputs from 0 for aclSetInputTensorAddr, outputs from 0 for
// aclSetOutputTensorAddr, inputs and then outputs for aclSetTensorAddr. In this order: 561103
// tensor NULL; 161002 not a live tensor; (the address is set here;) 561103 executor NULL; 561000
// not a live executor; 161002 no such operand, or it was absent in phase one.
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

// The same for a parameter that is a list: element number `relativeIndex` of `tensors`, parameter
// number `irIndex`. No operator here has such parameters: a parameter counts as a list of one.
// 561103: tensors NULL. 161002: not a live list, no such element, `relativeIndex` not 0.
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

// The same six under the spelling that some engines link against.
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

#ifdef __cplusplus
}
#endif

#endif
