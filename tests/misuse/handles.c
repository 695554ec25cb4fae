// SPDX-License-Identifier: Apache-2.0
// Rows 12 to 14: contexts, and handles that are dead or belong elsewhere.
#include "misuse.h"

static void Row12(void) {
  aclrtContext first = NULL, second = NULL;
  aclrtStream stream = NULL;
  aclrtEvent event = NULL;
  int host = 0;
  SUCCEEDS(aclrtCreateContext(&first, 0));
  SUCCEEDS(aclrtCreateStream(&stream));
  void* memory = Device(4);
  SUCCEEDS(aclrtCreateContext(&second, 0));
  SUCCEEDS(aclrtCreateEvent(&event));
  REFUSED(aclrtMemcpyAsync(memory, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
          ACL_ERROR_RT_STREAM_CONTEXT, "EE1010,stream,context");
  REFUSED(aclrtRecordEvent(event, stream), ACL_ERROR_RT_STREAM_CONTEXT, "EE1010,stream,context");
  SUCCEEDS(aclrtSynchronizeStream(stream));
  SUCCEEDS(aclrtFree(memory));
  SUCCEEDS(aclrtDestroyContext(second));
  SUCCEEDS(aclrtDestroyContext(first));
}

typedef struct {
  aclOpExecutor* executor;
  void* workspace;
  uint64_t bytes;
} Second;

static void PhaseTwoWithoutContext(void* given) {
  const Second* second = given;
  REFUSED(aclnnSparseFlashMla(second->workspace, second->bytes, second->executor, NULL),
          ACLNN_ERR_RUNTIME_ERROR, "context,107002");
}

static void Row13(void) {
  Second second = {NULL, NULL, 0};
  SUCCEEDS(aclrtSetDevice(0));
  Call call = MakeCall();
  SUCCEEDS(PhaseOne(&call, &second.bytes, &second.executor));
  second.workspace = Device(second.bytes);
  InThread(PhaseTwoWithoutContext, &second);
  SUCCEEDS(aclDestroyAclOpExecutor(second.executor));
  SUCCEEDS(aclrtFree(second.workspace));
  DropCall(&call);
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row14(void) {
  aclrtContext context = NULL;
  aclrtStream stream = NULL;
  aclrtEvent event = NULL;
  SUCCEEDS(aclrtCreateContext(&context, 0));
  SUCCEEDS(aclrtCreateStream(&stream));
  SUCCEEDS(aclrtCreateEvent(&event));
  SUCCEEDS(aclrtDestroyStream(stream));
  REFUSED(aclrtDestroyStream(stream), ACL_ERROR_RT_PARAM_INVALID, "stream,destroyed");
  REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID, "stream,destroyed");
  SUCCEEDS(aclrtDestroyEvent(event));
  REFUSED(aclrtDestroyEvent(event), ACL_ERROR_RT_PARAM_INVALID, "event,destroyed");
  REFUSED(aclrtRecordEvent(event, NULL), ACL_ERROR_RT_PARAM_INVALID, "event,destroyed");
  SUCCEEDS(aclrtDestroyContext(context));
  REFUSED(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL, "context,destroyed");
  REFUSED(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL, "context,destroyed");
}

const Row kHandleRows[] = {{12, Row12}, {13, Row13}, {14, Row14}, {0, NULL}};
