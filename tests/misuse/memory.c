// SPDX-License-Identifier: Apache-2.0
// Rows 5 to 11: device memory and copies.
#include "misuse.h"

static void Row5(void) {
  void* memory = NULL;
  SUCCEEDS(aclrtSetDevice(0));
  REFUSED(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM,
          "EH0008,devPtr");
  REFUSED(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM, "EH00,size");
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row6(void) {
  void* memory = NULL;
  size_t left = 0, total = 0;
  SUCCEEDS(aclrtSetDevice(0));
  SUCCEEDS(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
  REFUSED(aclrtMalloc(&memory, left + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION,
          "size,free");
  REQUIRE(memory == NULL);
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row7(void) { REFUSED(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM, "devPtr"); }

static void Row8(void) {
  int host = 0;
  char address[32];
  SUCCEEDS(aclrtSetDevice(0));
  char* memory = Device(64);
  snprintf(address, sizeof address, "%p", (void*)(memory + 8));
  REFUSED(aclrtFree(memory + 8), ACL_ERROR_RT_PARAM_INVALID, address);
  SUCCEEDS(aclrtFree(memory));
  snprintf(address, sizeof address, "%p", (void*)memory);
  REFUSED(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID, address);
  snprintf(address, sizeof address, "%p", (void*)&host);
  REFUSED(aclrtFree(&host), ACL_ERROR_RT_PARAM_INVALID, address);
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row9(void) {
  char host[8] = {1, 1, 1, 1, 1, 1, 1, 1}, back[8] = {1};
  SUCCEEDS(aclrtSetDevice(0));
  char* memory = Device(8);
  REFUSED(aclrtMemcpy(memory, 4, host, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID,
          "destMax,4,count,8");
  SUCCEEDS(aclrtMemcpy(back, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(back[0] == 0 && back[7] == 0);
  SUCCEEDS(aclrtFree(memory));
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row10(void) {
  SUCCEEDS(aclrtSetDevice(0));
  void* memory = Device(8);
  REFUSED(aclrtMemcpy(memory, 8, NULL, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM,
          "src");
  SUCCEEDS(aclrtMemcpy(memory, 8, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  SUCCEEDS(aclrtFree(memory));
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row11(void) {
  int from = 1, to = 2;
  SUCCEEDS(aclrtSetDevice(0));
  REFUSED(aclrtMemcpyAsync(&to, 4, &from, 4, ACL_MEMCPY_HOST_TO_HOST, NULL),
          ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind");
  REQUIRE(to == 2);
  SUCCEEDS(aclrtResetDevice(0));
}

const Row kMemoryRows[] = {{5, Row5}, {6, Row6},   {7, Row7},   {8, Row8},
                           {9, Row9}, {10, Row10}, {11, Row11}, {0, NULL}};
