// SPDX-License-Identifier: Apache-2.0
// Rows 36 to 38: faults of queued work, leaving with work queued, reading too early.
#include <time.h>
#include <unistd.h>

#include "misuse.h"

static void SleepSecond(void* seconds) {
  const struct timespec pause = {*(const int*)seconds, 0};
  nanosleep(&pause, NULL);
}

// The metadata was never planned: the operator notices when it runs.
static void Row36(void) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  SUCCEEDS(aclrtSetDevice(0));
  Call call = MakeCall();
  SUCCEEDS(PhaseOne(&call, &bytes, &executor));
  void* workspace = Device(bytes);
  SUCCEEDS(aclnnSparseFlashMla(workspace, bytes, executor, NULL));
  Plan(&call, NULL);
  SUCCEEDS(PhaseOne(&call, &bytes, &executor));
  SUCCEEDS(aclnnSparseFlashMla(workspace, bytes, executor, NULL));
  REFUSED(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_AICPU_EXCEPTION,
          "aclnnSparseFlashMla,metadata");
  SUCCEEDS(aclrtSynchronizeStream(NULL));
  SUCCEEDS(aclrtFree(workspace));
  DropCall(&call);
  SUCCEEDS(aclrtResetDevice(0));
}

// Everything is left as it is, one stream sleeps and has work queued behind.
static void Row37(void) {
  static int seconds = 60;
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  aclrtStream stream = NULL;
  SUCCEEDS(aclInit(NULL));
  SUCCEEDS(aclrtSetDevice(0));
  Call call = MakeCall();
  SUCCEEDS(aclrtCreateStream(&stream));
  SUCCEEDS(aclrtLaunchHostFunc(stream, SleepSecond, &seconds));
  Plan(&call, stream);
  SUCCEEDS(PhaseOne(&call, &bytes, &executor));
  SUCCEEDS(aclnnSparseFlashMla(Device(bytes), bytes, executor, stream));
  SUCCEEDS(PhaseOne(&call, &bytes, &executor));
  exit(g_failures > 0 ? 1 : 42);
}

static void Row38(void) {
  static int seconds = 1;
  aclrtStream stream = NULL;
  char host[64] = {0};
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtCreateStream(&stream));
  void* memory = Device(64);
  SUCCEEDS(aclrtLaunchHostFunc(stream, SleepSecond, &seconds));
  SUCCEEDS(aclrtMemsetAsync(memory, 64, 1, 64, stream));
  SUCCEEDS(aclrtMemcpy(host, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(host[0] == 0);
  SUCCEEDS(aclrtDestroyStream(stream));
  SUCCEEDS(aclrtFree(memory));
  SUCCEEDS(aclrtResetDevice(0));
}

const Row kDeviceRows[] = {{36, Row36}, {37, Row37}, {38, Row38}, {0, NULL}};
