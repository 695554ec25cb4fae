// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share, under the names that published operator examples use.
// The test generates the same inputs with the same formula, Element.
#ifndef TESTS_PROGRAMS_EXAMPLE_COMMON_H_
#define TESTS_PROGRAMS_EXAMPLE_COMMON_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#define LOG_PRINT(...) std::printf(__VA_ARGS__)

#define CHECK_RET(condition, return_expression) \
  do {                                          \
    if (!(condition)) {                         \
      return_expression;                        \
    }                                           \
  } while (0)

// Leaves the function with the code of a call that failed, after saying why.
#define CHECK_CALL(call)                                                                          \
  do {                                                                                            \
    const int call_status = (call);                                                               \
    if (call_status != ACL_SUCCESS) {                                                             \
      const char* call_text = aclGetRecentErrMsg();                                               \
      LOG_PRINT("%s failed: %d %s\n", #call, call_status, call_text != nullptr ? call_text : ""); \
      return call_status;                                                                         \
    }                                                                                             \
  } while (0)

// A device in use, and everything made for it.
struct Session {
  int32_t device_id = 0;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  std::vector<aclTensor*> tensors;
  std::vector<void*> device_addresses;
};

// Number `index` of input `input`: a multiple of 1/64 in [-2, 2), exact in all 16-bit types.
inline uint32_t Mixed(uint32_t input, uint32_t index) {
  uint32_t bits = (index + input * 7919u) * 0x9E3779B1u;
  bits ^= bits >> 15;
  return bits * 0x85EBCA77u >> 8;
}
inline float Element(uint32_t input, uint32_t index) {
  return static_cast<float>(static_cast<int>(Mixed(input, index) >> 16) - 128) / 64.0f;
}

inline int64_t GetShapeSize(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

inline int Init(Session* session) {
  CHECK_CALL(aclInit(nullptr));
  CHECK_CALL(aclrtSetDevice(session->device_id));
  CHECK_CALL(aclrtCreateContext(&session->context, session->device_id));
  CHECK_CALL(aclrtSetCurrentContext(session->context));
  CHECK_CALL(aclrtCreateStream(&session->stream));
  return ACL_SUCCESS;
}

// A tensor in device memory of its own, filled from the host. An empty one has no memory.
template <typename T>
int CreateAclTensor(Session* session, const std::vector<T>& host_data,
                    const std::vector<int64_t>& shape, aclDataType data_type, aclTensor** tensor) {
  void* device_address = nullptr;
  const size_t bytes = static_cast<size_t>(GetShapeSize(shape)) * aclDataTypeSize(data_type);
  CHECK_RET(bytes == host_data.size() * sizeof(T), return ACL_ERROR_FAILURE);
  if (bytes > 0) {
    CHECK_CALL(aclrtMalloc(&device_address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    session->device_addresses.push_back(device_address);
    CHECK_CALL(
        aclrtMemcpy(device_address, bytes, host_data.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size() - 1; axis > 0; --axis) {
    strides[axis - 1] = strides[axis] * shape[axis];
  }
  *tensor = aclCreateTensor(shape.data(), shape.size(), data_type, strides.data(), 0, ACL_FORMAT_ND,
                            shape.data(), shape.size(), device_address);
  CHECK_RET(*tensor != nullptr, return ACL_ERROR_FAILURE);
  session->tensors.push_back(*tensor);
  return ACL_SUCCESS;
}

// Phase two with a workspace of the size that phase one asked for; returns when all is done.
template <typename PhaseTwo>
int RunAndWait(PhaseTwo phase_two, uint64_t workspace_bytes, aclOpExecutor* executor,
               aclrtStream stream) {
  void* workspace = nullptr;
  if (workspace_bytes > 0) {
    CHECK_CALL(aclrtMalloc(&workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  CHECK_CALL(phase_two(workspace, workspace_bytes, executor, stream));
  CHECK_CALL(aclrtSynchronizeStream(stream));
  if (workspace != nullptr) CHECK_CALL(aclrtFree(workspace));
  return ACL_SUCCESS;
}

template <typename T>
int CopyToHost(const aclTensor* tensor, std::vector<T>* host_data) {
  void* device_address = nullptr;
  CHECK_CALL(aclGetRawTensorAddr(tensor, &device_address));
  const size_t bytes = host_data->size() * sizeof(T);
  CHECK_CALL(
      aclrtMemcpy(host_data->data(), bytes, device_address, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return ACL_SUCCESS;
}

// One line per number, with the digits that tell any two floats apart.
inline void PrintOutResult(const char* name, const std::vector<float>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    LOG_PRINT("%s[%zu] is: %.9g\n", name, i, static_cast<double>(numbers[i]));
  }
}

inline int Finalize(Session* session) {
  for (const aclTensor* tensor : session->tensors) CHECK_CALL(aclDestroyTensor(tensor));
  for (void* address : session->device_addresses) CHECK_CALL(aclrtFree(address));
  CHECK_CALL(aclrtDestroyStream(session->stream));
  CHECK_CALL(aclrtDestroyContext(session->context));
  CHECK_CALL(aclrtResetDevice(session->device_id));
  CHECK_CALL(aclFinalize());
  return ACL_SUCCESS;
}

#endif  // TESTS_PROGRAMS_EXAMPLE_COMMON_H_
