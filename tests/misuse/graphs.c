// SPDX-License-Identifier: Apache-2.0
// Rows 32 to 35: capture and replay.
#include "misuse.h"

static aclrtStream OpenStream(void) {
  aclrtStream stream = NULL;
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateStream(&stream));
  return stream;
}

static void CloseStream(aclrtStream stream) {
  SUCCEEDS(aclrtSynchronizeStream(stream));
  SUCCEEDS(aclrtDestroyStream(stream));
  SUCCEEDS(aclrtResetDevice(0));
}

static void EndElsewhere(void* stream) {
  aclmdlRI graph = stream;
  SUCCEEDS(aclrtSetDevice(0));
  REFUSED(aclmdlRICaptureEnd(stream, &graph), ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
          "stream,thread");
  REQUIRE(graph == NULL);
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row32(void) {
  aclrtStream stream = OpenStream(), default_stream = NULL;
  aclmdlRI graph = stream;
  SUCCEEDS(aclrtCtxGetCurrentDefaultStream(&default_stream));
  REFUSED(aclmdlRICaptureBegin(default_stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
          ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream");
  REFUSED(aclmdlRICaptureEnd(stream, &graph), ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream");
  REQUIRE(graph == NULL);
  SUCCEEDS(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  REFUSED(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
          ACL_ERROR_RT_STREAM_CAPTURED, "stream");
  InThread(EndElsewhere, stream);
  CloseStream(stream);
}

static void Row33(void) {
  aclrtStream stream = OpenStream();
  aclmdlRI graph = NULL;
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  char host[4] = {0};
  void* memory = Device(4);
  SUCCEEDS(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CAPTURED, "captured");
  REFUSED(aclrtMemcpy(host, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST),
          ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, "capture mode");
  SUCCEEDS(aclmdlRICaptureThreadExchangeMode(&mode));
  SUCCEEDS(aclrtMemcpy(host, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  SUCCEEDS(aclmdlRICaptureThreadExchangeMode(&mode));
  SUCCEEDS(aclmdlRICaptureEnd(stream, &graph));
  SUCCEEDS(aclmdlRIDestroy(graph));
  SUCCEEDS(aclrtFree(memory));
  CloseStream(stream);
}

static void Row34(void) {
  aclrtStream stream = OpenStream(), side = NULL;
  aclrtEvent fork = NULL;
  aclmdlRI graph = stream;
  void* memory = Device(4);
  SUCCEEDS(aclrtCreateStream(&side));
  SUCCEEDS(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
  SUCCEEDS(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  SUCCEEDS(aclrtRecordEvent(fork, stream));
  SUCCEEDS(aclrtStreamWaitEvent(side, fork));
  SUCCEEDS(aclrtMemsetAsync(memory, 4, 1, 4, side));
  REFUSED(aclmdlRICaptureEnd(stream, &graph), ACL_ERROR_RT_STREAM_UNJOINED, "sub stream");
  REQUIRE(graph == NULL);
  SUCCEEDS(aclrtMemsetAsync(memory, 4, 1, 4, side));
  SUCCEEDS(aclrtSynchronizeStream(side));
  SUCCEEDS(aclrtDestroyStream(side));
  SUCCEEDS(aclrtDestroyEvent(fork));
  SUCCEEDS(aclrtFree(memory));
  CloseStream(stream);
}

static void Row35(void) {
  aclrtStream stream = OpenStream();
  aclmdlRI graph = NULL;
  char address[32];
  void* memory = Device(64);
  snprintf(address, sizeof address, "%p", memory);
  SUCCEEDS(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  SUCCEEDS(aclrtMemsetAsync(memory, 64, 1, 64, stream));
  SUCCEEDS(aclmdlRICaptureEnd(stream, &graph));
  SUCCEEDS(aclrtFree(memory));
  SUCCEEDS(aclmdlRIExecuteAsync(graph, stream));
  REFUSED(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION, address);
  SUCCEEDS(aclmdlRIDestroy(graph));
  CloseStream(stream);
}

const Row kGraphRows[] = {{32, Row32}, {33, Row33}, {34, Row34}, {35, Row35}, {0, NULL}};
