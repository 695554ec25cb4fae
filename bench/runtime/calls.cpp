// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

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

// While it lives, this thread and those it starts share one processor: where the system puts them,
// and whether it has to wake a second processor, would count for more than what is measured.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

// Microseconds of one repetition.
double TimeOnce(const std::function<void()>& repetitions) {
  const double start = WallSeconds();
  repetitions();
  return 1e6 * (WallSeconds() - start) / kCalls;
}

// Of hand-offs and of calls, measured in turns.
struct Costs {
  std::vector<double> hand_off, call, ratio;

  void Add(const std::function<void()>& hand_offs, const std::function<void()>& calls) {
    hand_off.push_back(TimeOnce(hand_offs));
    call.push_back(TimeOnce(calls));
    ratio.push_back(call.back() / hand_off.back());
  }
  void Print(const char* how) const {
    std::printf("| %s | %.2f | %.2f | %.1f |\n", how, Median(hand_off), Median(call),
                Median(ratio));
  }
};

}  // namespace

void MeasureCalls() {
  const OneProcessor pinned;
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
  Costs queued, waited;
  for (int round = 0; round < kRounds; ++round) {
    queued.Add(
        [&] {
          repeat([&] { hand_off.Submit(); });
          hand_off.Wait();
        },
        [&] {
          repeat([&] { step.QueueAttention(workspace.data(), stream); });
          synchronize();
        });
    waited.Add(
        [&] {
          repeat([&] {
            hand_off.Submit();
            hand_off.Wait();
          });
        },
        [&] {
          repeat([&] {
            step.QueueAttention(workspace.data(), stream);
            synchronize();
          });
        });
  }
  std::printf(
      "\n### Both phases of a call with an empty kernel, and a bare hand-off, on one processor\n\n"
      "| | us per hand-off | us per call | x |\n| --- | ---: | ---: | ---: |\n");
  waited.Print("each waited for");
  queued.Print("1000 queued, then waited for");
  Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

}  // namespace sfmla::bench
