// SPDX-License-Identifier: Apache-2.0
// misuse ROW...: runs rows of the misuse table. Exit code 0 if all behave as promised.
#include "misuse.h"

#include <pthread.h>

enum { kHeads = 8, kWidth = 512, kTokens = 4 };

int g_failures = 0;

void Require(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  ++g_failures;
}

void ExpectText(const char* words, const char* call, const char* file, int line) {
  const char* text = aclGetRecentErrMsg();
  Require(text != NULL, call, file, line);
  if (text == NULL) return;
  char list[200];
  snprintf(list, sizeof list, "%s", words);
  for (const char* word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
    if (strstr(text, word) != NULL) continue;
    fprintf(stderr, "%s:%d: %s: '%s' is missing in: %s\n", file, line, call, word, text);
    ++g_failures;
  }
  Require(aclGetRecentErrMsg() == NULL, "the text is cleared by reading it", file, line);
}

void Expect(int found, int expected, const char* words, const char* call, const char* file,
            int line) {
  if (found != expected) {
    const char* text = aclGetRecentErrMsg();
    fprintf(stderr, "%s:%d: %s: %d, must be %d: %s\n", file, line, call, found, expected,
            text == NULL ? "" : text);
    ++g_failures;
  } else if (expected != 0) {
    ExpectText(words, call, file, line);
  } else {
    Require(aclGetRecentErrMsg() == NULL, "success leaves no text", file, line);
  }
}

typedef struct {
  void (*body)(void*);
  void* argument;
} Work;

static void* RunWork(void* given) {
  Work* work = given;
  work->body(work->argument);
  return NULL;
}

void InThread(void (*body)(void* argument), void* argument) {
  Work work = {body, argument};
  pthread_t thread;
  if (pthread_create(&thread, NULL, RunWork, &work) != 0) abort();
  pthread_join(thread, NULL);
}

void* Device(size_t bytes) {
  void* memory = NULL;
  SUCCEEDS(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (memory == NULL) abort();
  SUCCEEDS(aclrtMemset(memory, bytes, 0, bytes));
  return memory;
}

static aclTensor* Tensor(aclDataType type, uint64_t rank, const int64_t* dims) {
  size_t bytes = aclDataTypeSize(type);
  for (uint64_t i = 0; i < rank; ++i) bytes *= (size_t)dims[i];
  return aclCreateTensor(dims, rank, type, NULL, 0, ACL_FORMAT_ND, dims, rank, Device(bytes));
}

Call MakeCall(void) {
  const int64_t q_dims[] = {1, 1, kHeads, kWidth}, kv_dims[] = {1, kTokens, 1, kWidth};
  const int64_t sinks_dims[] = {kHeads}, plan_dims[] = {1024};
  Call call = {Tensor(ACL_FLOAT16, 4, q_dims), Tensor(ACL_FLOAT16, 4, kv_dims),
               Tensor(ACL_FLOAT, 1, sinks_dims), Tensor(ACL_INT32, 1, plan_dims),
               Tensor(ACL_FLOAT16, 4, q_dims)};
  return call;
}

void DropCall(Call* call) {
  aclTensor* all[] = {call->q, call->kv, call->sinks, call->metadata, call->out};
  for (int i = 0; i < 5; ++i) {
    void* memory = NULL;
    SUCCEEDS(aclGetRawTensorAddr(all[i], &memory));
    SUCCEEDS(aclrtFree(memory));
    SUCCEEDS(aclDestroyTensor(all[i]));
  }
}

int PhaseOne(const Call* call, uint64_t* bytes, aclOpExecutor** executor) {
  char layout[] = "BSND";
  return aclnnSparseFlashMlaGetWorkspaceSize(
      call->q, call->kv, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, call->sinks, call->metadata, 0.04, 1, 4, 0, 127, 0, layout, layout, 1, false,
      call->out, NULL, bytes, executor);
}

int PhaseOneOfPlan(const Call* call, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnSparseFlashMlaMetadataGetWorkspaceSize(
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, kHeads, 1, kWidth, 1, 1, kTokens, 0, 0,
      0, 1, 4, 0, 127, 0, "BSND", "BSND", true, false, call->metadata, bytes, executor);
}

void Plan(const Call* call, aclrtStream stream) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  SUCCEEDS(PhaseOneOfPlan(call, &bytes, &executor));
  SUCCEEDS(aclnnSparseFlashMlaMetadata(NULL, bytes, executor, stream));
}

static void RunRow(int number) {
  const Row* const tables[] = {kStartRows, kMemoryRows, kHandleRows, kExecutorRows,
                               kWaitRows,  kGraphRows,  kDeviceRows};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i) {
    for (const Row* row = tables[i]; row->run != NULL; ++row) {
      if (row->number != number) continue;
      row->run();
      return;
    }
  }
  fprintf(stderr, "no row %d\n", number);
  ++g_failures;
}

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const int before = g_failures;
    RunRow(atoi(arguments[i]));
    if (g_failures > before) fprintf(stderr, "row %s failed\n", arguments[i]);
  }
  return g_failures > 0 || count < 2;
}
