// SPDX-License-Identifier: Apache-2.0
// Rows 1 to 4: start, end, devices.
#include "misuse.h"

static void MallocWithoutContext(void* unused) {
  (void)unused;
  void* memory = NULL;
  REFUSED(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL,
          "context");
}

static void Row1(void) { InThread(MallocWithoutContext, NULL); }

static void Row2(void) {
  SUCCEEDS(aclInit(NULL));
  REFUSED(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE, "repeated initialisation");
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtResetDevice(0));
  SUCCEEDS(aclFinalize());
}

static void Row3(void) {
  SUCCEEDS(aclInit(NULL));
  SUCCEEDS(aclFinalize());
  REFUSED(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE, "finalize");
}

static void Row4(void) {
  REFUSED(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID, "deviceId,99,[0");
  REFUSED(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID, "deviceId,-1,[0");
}

const Row kStartRows[] = {{1, Row1}, {2, Row2}, {3, Row3}, {4, Row4}, {0, NULL}};
