// SPDX-License-Identifier: Apache-2.0
// Rows 28 to 31: waiting, events, callbacks.
#include <pthread.h>
#include <time.h>

#include "misuse.h"

static void SleepFor(void* milliseconds) {
  const long ms = *(const int*)milliseconds;
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

static void Row28(void) {
  aclrtStream stream = NULL;
  int milliseconds = 1000;
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateStream(&stream));
  SUCCEEDS(aclrtLaunchHostFunc(stream, SleepFor, &milliseconds));
  REFUSED(aclrtSynchronizeStreamWithTimeout(stream, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
          "timeout");
  SUCCEEDS(aclrtSynchronizeStream(stream));
  SUCCEEDS(aclrtDestroyStream(stream));
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row29(void) {
  aclrtEvent event = NULL;
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateEvent(&event));
  REFUSED(aclrtSynchronizeEventWithTimeout(event, 0), ACL_ERROR_RT_PARAM_INVALID, "timeout,0");
  REFUSED(aclrtSynchronizeEventWithTimeout(event, -2), ACL_ERROR_RT_PARAM_INVALID, "timeout,-2");
  SUCCEEDS(aclrtDestroyEvent(event));
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row30(void) {
  aclrtEvent first = NULL, second = NULL;
  float ms = 0;
  int milliseconds = 200;
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateEvent(&first));
  SUCCEEDS(aclrtCreateEvent(&second));
  REFUSED(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_INTERNAL_ERROR, "event");
  SUCCEEDS(aclrtRecordEvent(first, NULL));
  SUCCEEDS(aclrtSynchronizeEvent(first));
  SUCCEEDS(aclrtLaunchHostFunc(NULL, SleepFor, &milliseconds));
  SUCCEEDS(aclrtRecordEvent(second, NULL));
  REFUSED(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event");
  SUCCEEDS(aclrtSynchronizeEvent(second));
  SUCCEEDS(aclrtEventElapsedTime(&ms, first, second));
  SUCCEEDS(aclrtDestroyEvent(first));
  SUCCEEDS(aclrtDestroyEvent(second));
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row31(void) {
  aclrtStream stream = NULL;
  const uint64_t self = (uint64_t)pthread_self();
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateStream(&stream));
  REFUSED(aclrtLaunchCallback(SleepFor, NULL, ACL_CALLBACK_BLOCK, stream),
          ACL_ERROR_RT_STREAM_NO_CB_REG, "stream,thread");
  SUCCEEDS(aclrtSubscribeReport(self, stream));
  REFUSED(aclrtSubscribeReport(self, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream,thread");
  REFUSED(aclrtProcessReport(10), ACL_ERROR_RT_REPORT_TIMEOUT, "timeout");
  SUCCEEDS(aclrtUnSubscribeReport(self, stream));
  SUCCEEDS(aclrtDestroyStream(stream));
  SUCCEEDS(aclrtResetDevice(0));
}

const Row kWaitRows[] = {{28, Row28}, {29, Row29}, {30, Row30}, {31, Row31}, {0, NULL}};
