// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <functional>

#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "clock.h"
#include "decode_step.h"
#include "hand_off.h"
#include "kernels.h"
#include "measurements.h"
#include "statistics.h"

namespace sfmla::bench {
namespace {

constexpr int kRounds = 21;
constexpr int kCalls = 1000;  // per round

// Wall microseconds and processor microseconds of all threads, per repetition.
struct Cost {
  std::vector<double> wall, processor;

  void Add(const std::function<void()>& repetitions) {
    const double wall_start = WallSeconds();
    const double processor_start = ProcessSeconds();
    repetitions();
    wall.push_back(1e6 * (WallSeconds() - wall_start) / kCalls);
    processor.push_back(1e6 * (ProcessSeconds() - processor_start) / kCalls);
  }
};

double MedianRatio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (size_t i = 0; i < of.size(); ++i) ratios.push_back(of[i] / to[i]);
  return Median(ratios);
}

void Print(const char* what, const Cost& cost, const Cost& base) {
  std::printf("| %s | %.2f | %.2f | %.1f | %.1f |\n", what, Median(cost.wall),
              Median(cost.processor), MedianRatio(cost.wall, base.wall),
              MedianRatio(cost.processor, base.processor));
}

}  // namespace

void MeasureCalls() {
  UseEmptyKernels();
  const DecodeStep step({});
  aclrtStream stream = nullptr;
  Must(aclrtCreateStream(&stream), "aclrtCreateStream");
  const DeviceMemory workspace([&] {
    const Prepared call = step.PrepareAttention();
    Must(aclDestroyAclOpExecutor(call.executor), "aclDestroyAclOpExecutor");
    return call.workspace_bytes;
  }());
  HandOff hand_off;
  const auto synchronize = [&] { Must(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream"); };
  const auto repeat = [](const auto& once) {
    for (int i = 0; i < kCalls; ++i) once();
  };
  Cost queued, queued_base, waited, waited_base;
  for (int round = 0; round < kRounds; ++round) {
    queued_base.Add([&] {
      repeat([&] { hand_off.Submit(); });
      hand_off.Wait();
    });
    queued.Add([&] {
      repeat([&] { step.QueueAttention(workspace.data(), stream); });
      synchronize();
    });
    waited_base.Add([&] {
      repeat([&] {
        hand_off.Submit();
        hand_off.Wait();
      });
    });
    waited.Add([&] {
      repeat([&] {
        step.QueueAttention(workspace.data(), stream);
        synchronize();
      });
    });
  }
  std::printf(
      "\n### Phase one and phase two of an empty kernel, against a bare hand-off to a thread\n\n"
      "| per call | us | us of processor | x hand-off | x hand-off, processor |\n"
      "| --- | ---: | ---: | ---: | ---: |\n");
  Print("hand-off, 1000 queued", queued_base, queued_base);
  Print("call, 1000 queued", queued, queued_base);
  Print("hand-off, each waited for", waited_base, waited_base);
  Print("call, each waited for", waited, waited_base);
  Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

}  // namespace sfmla::bench
