// SPDX-License-Identifier: Apache-2.0
// Rows 15 to 27: phase one, phase two, descriptors.
#include "misuse.h"

// A device, a call and phase one of it.
typedef struct {
  Call call;
  aclOpExecutor* executor;
  uint64_t bytes;
  void* workspace;
} Fixture;

static Fixture Begin(void) {
  Fixture fixture = {{NULL, NULL, NULL, NULL, NULL}, NULL, 0, NULL};
  SUCCEEDS(aclrtSetDevice(0));
  fixture.call = MakeCall();
  SUCCEEDS(PhaseOne(&fixture.call, &fixture.bytes, &fixture.executor));
  REQUIRE(fixture.bytes > 0);
  fixture.workspace = Device(fixture.bytes);
  return fixture;
}

static int Run(const Fixture* fixture) {
  return aclnnSparseFlashMla(fixture->workspace, fixture->bytes, fixture->executor, NULL);
}

static void RunsWell(const Fixture* fixture) {
  Plan(&fixture->call, NULL);
  SUCCEEDS(Run(fixture));
  SUCCEEDS(aclrtSynchronizeStream(NULL));
}

static void End(Fixture* fixture) {
  SUCCEEDS(aclrtFree(fixture->workspace));
  DropCall(&fixture->call);
  SUCCEEDS(aclrtResetDevice(0));
}

static void Row15(void) {
  Fixture fixture = Begin();
  REFUSED(aclnnSparseFlashMla(fixture.workspace, fixture.bytes, NULL, NULL),
          ACLNN_ERR_PARAM_NULLPTR, "EZ1011,executor");
  RunsWell(&fixture);
  End(&fixture);
}

static void Row16(void) {
  Fixture fixture = Begin();
  REFUSED(aclnnSparseFlashMla(NULL, fixture.bytes, fixture.executor, NULL), ACLNN_ERR_PARAM_NULLPTR,
          "workspace");
  RunsWell(&fixture);
  End(&fixture);
}

static void Row17(void) {
  char words[64];
  Fixture fixture = Begin();
  snprintf(words, sizeof words, "EZ1010,%llu,%llu", (unsigned long long)fixture.bytes - 1,
           (unsigned long long)fixture.bytes);
  REFUSED(aclnnSparseFlashMla(fixture.workspace, fixture.bytes - 1, fixture.executor, NULL),
          ACLNN_ERR_PARAM_INVALID, words);
  RunsWell(&fixture);
  End(&fixture);
}

static void Row18(void) {
  Fixture fixture = Begin();
  RunsWell(&fixture);
  REFUSED(Run(&fixture), ACLNN_ERR_PARAM_INVALID, "executor,consumed");
  End(&fixture);
}

static void Row19(void) {
  Fixture fixture = Begin();
  Call without = fixture.call;
  uint64_t bytes = 1;
  aclOpExecutor* executor = fixture.executor;
  without.q = NULL;
  REFUSED(PhaseOne(&without, &bytes, &executor), ACLNN_ERR_PARAM_NULLPTR, "q");
  REQUIRE(bytes == 0 && executor == NULL);
  RunsWell(&fixture);
  End(&fixture);
}

// Phase one with another tensor in place of the latent cache.
static void RefusesKv(const Fixture* fixture, aclDataType type, uint64_t rank, const int64_t* dims,
                      const char* words) {
  Call call = fixture->call;
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  call.kv = aclCreateTensor(dims, rank, type, NULL, 0, ACL_FORMAT_ND, dims, rank, NULL);
  REFUSED(PhaseOne(&call, &bytes, &executor), ACLNN_ERR_PARAM_INVALID, words);
  SUCCEEDS(aclDestroyTensor(call.kv));
}

static void Row20(void) {
  const int64_t dims[] = {1, 4, 1, 512}, narrow[] = {1, 4, 1, 511};
  Fixture fixture = Begin();
  RefusesKv(&fixture, ACL_FLOAT, 4, dims, "ori_kv,FLOAT,FLOAT16");
  RefusesKv(&fixture, ACL_FLOAT16, 2, dims, "ori_kv,rank 2,4");
  RefusesKv(&fixture, ACL_FLOAT16, 4, narrow, "ori_kv,511,512");
  RunsWell(&fixture);
  End(&fixture);
}

static void Row21(void) {
  Fixture fixture = Begin();
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  REFUSED(PhaseOne(&fixture.call, NULL, &executor), ACLNN_ERR_PARAM_NULLPTR, "workspaceSize");
  REFUSED(PhaseOne(&fixture.call, &bytes, NULL), ACLNN_ERR_PARAM_NULLPTR, "executor");
  REFUSED(PhaseOneOfPlan(&fixture.call, NULL, &executor), ACLNN_ERR_INNER_NULLPTR, "workspaceSize");
  REFUSED(PhaseOneOfPlan(&fixture.call, &bytes, NULL), ACLNN_ERR_INNER_NULLPTR, "executor");
  RunsWell(&fixture);
  End(&fixture);
}

static void Row22(void) {
  REQUIRE(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 0, NULL) == NULL);
  ExpectText("viewDims", "aclCreateTensor", __FILE__, __LINE__);
}

static void Row23(void) {
  const int64_t dims[] = {1, 1, 8, 512};
  void* memory = NULL;
  Fixture fixture = Begin();
  SUCCEEDS(aclGetRawTensorAddr(fixture.call.q, &memory));
  SUCCEEDS(aclDestroyTensor(fixture.call.q));
  fixture.call.q = aclCreateTensor(dims, 4, ACL_FLOAT16, NULL, 0, ACL_FORMAT_ND, dims, 4, memory);
  REFUSED(Run(&fixture), ACLNN_ERR_PARAM_INVALID, "q,destroyed");
  SUCCEEDS(aclDestroyAclOpExecutor(fixture.executor));
  End(&fixture);
}

static void Row24(void) {
  const int64_t dims[] = {4};
  aclTensor* elements[2];
  for (int i = 0; i < 2; ++i) {
    elements[i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, NULL);
  }
  aclTensorList* list = aclCreateTensorList((const aclTensor* const*)elements, 2);
  SUCCEEDS(aclDestroyTensor(elements[0]));
  SUCCEEDS(aclDestroyTensorList(list));
  REFUSED(aclDestroyTensor(elements[1]), ACLNN_ERR_PARAM_INVALID, "tensor,destroyed,list");
  REFUSED(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID, "array,destroyed");
}

static void Row25(void) {
  SUCCEEDS(aclDestroyTensor(NULL));
  SUCCEEDS(aclDestroyScalar(NULL));
  SUCCEEDS(aclDestroyIntArray(NULL));
  SUCCEEDS(aclDestroyFloatArray(NULL));
  SUCCEEDS(aclDestroyBoolArray(NULL));
  SUCCEEDS(aclDestroyTensorList(NULL));
  SUCCEEDS(aclDestroyScalarList(NULL));
}

static void Row26(void) {
  REFUSED(aclSetAclOpExecutorRepeatable(NULL), ACLNN_ERR_INNER_NULLPTR, "executor");
  REFUSED(aclDestroyAclOpExecutor(NULL), ACLNN_ERR_INNER_NULLPTR, "executor");
}

static void Row27(void) {
  int garbage = 0;
  REFUSED(aclDestroyAclOpExecutor((aclOpExecutor*)(void*)&garbage), ACLNN_ERR_INNER, "executor");
  REFUSED(aclDestroyAclOpExecutor((aclOpExecutor*)(uintptr_t)8), ACLNN_ERR_INNER, "executor");
}

const Row kExecutorRows[] = {{15, Row15}, {16, Row16}, {17, Row17}, {18, Row18}, {19, Row19},
                             {20, Row20}, {21, Row21}, {22, Row22}, {23, Row23}, {24, Row24},
                             {25, Row25}, {26, Row26}, {27, Row27}, {0, NULL}};
