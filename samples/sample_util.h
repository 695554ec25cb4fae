// SPDX-License-Identifier: Apache-2.0
// What the C and the C++ sample share: leaving on the first error, operands in device memory, and
// the second phase of a call with a workspace that grows when it has to.
#ifndef SAMPLES_SAMPLE_UTIL_H_
#define SAMPLES_SAMPLE_UTIL_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

static inline void Check(int status, const char* call) {
  if (status == 0) return;
  const char* text = aclGetRecentErrMsg();
  fprintf(stderr, "%s: %d %s\n", call, status, text != NULL ? text : "");
  exit(1);
}

static inline size_t BytesOf(aclDataType type, uint64_t rank, const int64_t* dims) {
  size_t bytes = aclDataTypeSize(type);
  for (uint64_t i = 0; i < rank; ++i) bytes *= (size_t)dims[i];
  return bytes;
}

// A contiguous tensor in device memory of its own, a copy of `host` unless that is NULL.
static inline aclTensor* MakeOperand(aclDataType type, uint64_t rank, const int64_t* dims,
                                     const void* host) {
  const size_t bytes = BytesOf(type, rank, dims);
  void* device = NULL;
  Check(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  if (host != NULL) {
    Check(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  }
  return aclCreateTensor(dims, rank, type, NULL, 0, ACL_FORMAT_ND, dims, rank, device);
}

static inline void* DeviceAddress(const aclTensor* operand) {
  void* device = NULL;
  Check(aclGetRawTensorAddr(operand, &device), "aclGetRawTensorAddr");
  return device;
}

static inline void Upload(const aclTensor* operand, const void* host, size_t bytes) {
  Check(aclrtMemcpy(DeviceAddress(operand), bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE),
        "upload");
}

static inline void Download(const aclTensor* operand, void* host, size_t bytes) {
  Check(aclrtMemcpy(host, bytes, DeviceAddress(operand), bytes, ACL_MEMCPY_DEVICE_TO_HOST),
        "download");
}

static inline void DestroyOperand(const aclTensor* operand) {
  Check(aclrtFree(DeviceAddress(operand)), "aclrtFree");
  Check(aclDestroyTensor(operand), "aclDestroyTensor");
}

typedef struct {
  aclrtStream stream;
  void* workspace;  // shared by all calls on the stream: they run one after the other
  uint64_t workspace_bytes;
} Session;

static inline Session OpenSession(void) {
  Session session = {NULL, NULL, 0};
  Check(aclInit(NULL), "aclInit");
  Check(aclrtSetDevice(0), "aclrtSetDevice");
  Check(aclrtCreateStream(&session.stream), "aclrtCreateStream");
  return session;
}

static inline void CloseSession(Session* session) {
  Check(aclrtDestroyStream(session->stream), "aclrtDestroyStream");
  if (session->workspace != NULL) Check(aclrtFree(session->workspace), "aclrtFree");
  Check(aclrtResetDevice(0), "aclrtResetDevice");
  Check(aclFinalize(), "aclFinalize");
}

typedef aclnnStatus (*PhaseTwo)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Queues a call whose phase one returned `phase_one_status` and wrote the other arguments.
static inline void Launch(Session* session, PhaseTwo phase_two, int phase_one_status,
                          uint64_t bytes, aclOpExecutor* executor) {
  Check(phase_one_status, "phase one");
  if (bytes > session->workspace_bytes) {
    Check(aclrtSynchronizeStream(session->stream), "aclrtSynchronizeStream");  // still in use
    if (session->workspace != NULL) Check(aclrtFree(session->workspace), "aclrtFree");
    Check(aclrtMalloc(&session->workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    session->workspace_bytes = bytes;
  }
  Check(phase_two(session->workspace, bytes, executor, session->stream), "phase two");
}

#endif  // SAMPLES_SAMPLE_UTIL_H_
