// SPDX-License-Identifier: Apache-2.0
// What the rows of the misuse table share: judging a refusal, and small operands of the operators.
#ifndef TESTS_MISUSE_MISUSE_H_
#define TESTS_MISUSE_MISUSE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"

typedef struct {
  int number;
  void (*run)(void);
} Row;

extern const Row kStartRows[], kMemoryRows[], kHandleRows[], kExecutorRows[], kWaitRows[],
    kGraphRows[], kDeviceRows[];

extern int g_failures;  // of the program

// A condition that must hold.
#define REQUIRE(condition) Require((condition), #condition, __FILE__, __LINE__)
// The call succeeds and leaves no text.
#define SUCCEEDS(call) Expect((call), 0, NULL, #call, __FILE__, __LINE__)
// The call answers `code`; the text has every word of the comma-separated list, and reading it
// clears it.
#define REFUSED(call, code, words) Expect((call), (code), (words), #call, __FILE__, __LINE__)

void Require(bool holds, const char* what, const char* file, int line);
void Expect(int found, int expected, const char* words, const char* call, const char* file,
            int line);
// The same for a text without a code, such as that of a NULL result.
void ExpectText(const char* words, const char* call, const char* file, int line);

// Runs `body` in a new thread and waits for it.
void InThread(void (*body)(void* argument), void* argument);

// Device memory of its own; never NULL.
void* Device(size_t bytes);

// One row of 8 heads over 4 tokens, window attention: the operands of both operators.
typedef struct {
  aclTensor *q, *kv, *sinks, *metadata, *out;
} Call;

Call MakeCall(void);
// Tensors may have been destroyed (NULL then); the memory is freed in any case.
void DropCall(Call* call);
// Phase one of the main operator, of the planner.
int PhaseOne(const Call* call, uint64_t* bytes, aclOpExecutor** executor);
int PhaseOneOfPlan(const Call* call, uint64_t* bytes, aclOpExecutor** executor);
// Plans the call on the stream, so that the main operator may run.
void Plan(const Call* call, aclrtStream stream);

#endif  // TESTS_MISUSE_MISUSE_H_
