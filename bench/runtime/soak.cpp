// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "decode_step.h"
#include "kernels.h"
#include "measurements.h"

namespace sfmla::bench {
namespace {

constexpr int kCalls = 10000;

// Memory of the process that lies in physical pages.
long ResidentKiB() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long pages = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::abort();
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// What the heap has given out. Unlike resident memory it does not depend on how many threads
// happened to live at once.
long AllocatedKiB() { return static_cast<long>(mallinfo2().uordblks / 1024); }

// All that a client does for one call, from nothing to nothing: every kind of object once.
void OneCall(aclrtContext context) {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclmdlRI graph = nullptr;
  const DecodeStep step({});
  const Prepared call = step.PrepareAttention();
  Must(aclDestroyAclOpExecutor(call.executor), "aclDestroyAclOpExecutor");
  const DeviceMemory workspace(call.workspace_bytes);
  Must(aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
  Must(aclrtCreateStream(&stream), "aclrtCreateStream");
  Must(aclrtCreateEvent(&event), "aclrtCreateEvent");
  step.QueuePlan(stream);
  step.QueueAttention(workspace.data(), stream);
  Must(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
  Must(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
  Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), "aclmdlRICaptureBegin");
  step.QueueAttention(workspace.data(), stream);
  Must(aclmdlRICaptureEnd(stream, &graph), "aclmdlRICaptureEnd");
  Must(aclmdlRIExecuteAsync(graph, stream), "aclmdlRIExecuteAsync");
  Must(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  Must(aclmdlRIDestroy(graph), "aclmdlRIDestroy");
  Must(aclrtDestroyEvent(event), "aclrtDestroyEvent");
  Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

}  // namespace

void MeasureSoak() {
  UseTimedKernels();
  aclrtContext context = nullptr;
  Must(aclrtGetCurrentContext(&context), "aclrtGetCurrentContext");
  std::printf(
      "\n### Memory in the course of 10,000 calls\n\n"
      "| calls | KiB resident | KiB allocated |\n| ---: | ---: | ---: |\n");
  for (int calls = 1; calls <= kCalls; ++calls) {
    OneCall(context);
    if (calls > 1 && calls % 1000 != 0) continue;
    std::printf("| %d | %ld | %ld |\n", calls, ResidentKiB(), AllocatedKiB());
  }
}

}  // namespace sfmla::bench
