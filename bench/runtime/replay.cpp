// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "clock.h"
#include "decode_step.h"
#include "kernels.h"
#include "measurements.h"
#include "statistics.h"

namespace sfmla::bench {
namespace {

constexpr int kRounds = 31;
constexpr int kLayers = 60;

// Seconds from queueing to done, and what of it the kernels took.
struct Cost {
  std::vector<double> wall, kernels, ratio;

  template <typename Queue>
  void Add(const Queue& queue, aclrtStream stream) {
    TakeKernelSeconds();
    const double start = WallSeconds();
    queue();
    Must(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    wall.push_back(WallSeconds() - start);
    kernels.push_back(TakeKernelSeconds());
    ratio.push_back(wall.back() / kernels.back());
  }
};

void QueueStep(const DecodeStep& step, void* workspace, aclrtStream stream) {
  step.QueuePlan(stream);
  for (int layer = 0; layer < kLayers; ++layer) step.QueueAttention(workspace, stream);
}

void Print(const StepShape& shape, const char* how, const Cost& cost) {
  std::printf("| %ld, %ld, %ld | %s | %.0f | %.0f | %.3f |\n", static_cast<long>(shape.batch),
              static_cast<long>(shape.heads), static_cast<long>(shape.context_tokens), how,
              1e6 * Median(cost.wall), 1e6 * Median(cost.kernels), Median(cost.ratio));
}

void MeasureShape(const StepShape& shape, aclrtStream stream) {
  const DecodeStep step(shape);
  const Prepared call = step.PrepareAttention();
  Must(aclDestroyAclOpExecutor(call.executor), "aclDestroyAclOpExecutor");
  const DeviceMemory workspace(call.workspace_bytes);
  aclmdlRI graph = nullptr;
  Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), "aclmdlRICaptureBegin");
  QueueStep(step, workspace.data(), stream);
  Must(aclmdlRICaptureEnd(stream, &graph), "aclmdlRICaptureEnd");
  Cost replayed, queued;
  for (int round = 0; round < kRounds; ++round) {
    replayed.Add([&] { Must(aclmdlRIExecuteAsync(graph, stream), "aclmdlRIExecuteAsync"); },
                 stream);
    queued.Add([&] { QueueStep(step, workspace.data(), stream); }, stream);
  }
  Print(shape, "replayed", replayed);
  Print(shape, "queued call by call", queued);
  Must(aclmdlRIDestroy(graph), "aclmdlRIDestroy");
}

}  // namespace

void MeasureReplay() {
  UseTimedKernels();
  aclrtStream stream = nullptr;
  Must(aclrtCreateStream(&stream), "aclrtCreateStream");
  std::printf(
      "\n### A plan and 60 layers of attention, against the sum of their kernels\n\n"
      "| requests, heads, context | step | us | us of kernels | x kernels |\n"
      "| --- | --- | ---: | ---: | ---: |\n");
  // The least that a step can be, what one user has, and a batch.
  MeasureShape({.batch = 1, .heads = 1, .context_tokens = 8, .listed_tokens = 1}, stream);
  MeasureShape({.batch = 1, .heads = 8, .context_tokens = 1024, .listed_tokens = 64}, stream);
  MeasureShape({.batch = 4, .heads = 16, .context_tokens = 4096, .listed_tokens = 512}, stream);
  Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

}  // namespace sfmla::bench
