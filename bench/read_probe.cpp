// SPDX-License-Identifier: Apache-2.0
// How fast one core reads memory that no cache holds: the slope of the roofline.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "clock.h"

namespace {

constexpr size_t kWords = size_t{1} << 25;  // 256 MiB: beyond the last-level cache
constexpr int kRounds = 3;

}  // namespace

// Best bytes per second of CPU time of a few passes over a buffer that is allocated for the call.
extern "C" __attribute__((visibility("default"))) double SfmlaReadRate() {
  const std::vector<uint64_t> words(kWords, 1);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = sfmla::bench::ThreadSeconds();
    uint64_t sum = 0;
    for (const uint64_t word : words) sum += word;
    asm volatile("" : : "r"(sum));  // the sum is needed, or no word would be read
    best = std::max(best, static_cast<double>(kWords * sizeof(uint64_t)) /
                              (sfmla::bench::ThreadSeconds() - start));
  }
  return best;
}
