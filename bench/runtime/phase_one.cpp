// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "clock.h"
#include "decode_step.h"
#include "measurements.h"
#include "statistics.h"

namespace sfmla::bench {
namespace {

constexpr int kRounds = 51;
constexpr int kCalls = 200;  // per round

// Processor microseconds of one call; the executors are released outside of the time.
double OneRound(const DecodeStep& step) {
  std::vector<Prepared> made(kCalls);
  const double start = ThreadSeconds();
  for (Prepared& call : made) call = step.PrepareWithAllTensors();
  const double seconds = ThreadSeconds() - start;
  for (const Prepared& call : made) {
    Must(aclDestroyAclOpExecutor(call.executor), "aclDestroyAclOpExecutor");
  }
  return 1e6 * seconds / kCalls;
}

}  // namespace

void MeasurePhaseOne() {
  std::printf(
      "\n### Phase one with 18 tensors, by batch\n\n"
      "| requests | us of processor (median) | us (least) | x one request |\n"
      "| ---: | ---: | ---: | ---: |\n");
  const DecodeStep one({.batch = 1});
  for (const int64_t batch : {1, 16, 256, 4096}) {
    const DecodeStep step({.batch = batch});
    std::vector<double> cost, ratio;
    for (int round = 0; round < kRounds; ++round) {
      const double base = OneRound(one);
      cost.push_back(OneRound(step));
      ratio.push_back(cost.back() / base);
    }
    std::printf("| %ld | %.2f | %.2f | %.2f |\n", static_cast<long>(batch), Median(cost),
                *std::min_element(cost.begin(), cost.end()), Median(ratio));
  }
}

}  // namespace sfmla::bench
