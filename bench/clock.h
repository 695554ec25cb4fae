// SPDX-License-Identifier: Apache-2.0
// Clocks, in seconds.
#pragma once

#include <time.h>

namespace sfmla::bench {

inline double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double WallSeconds() { return Seconds(CLOCK_MONOTONIC); }
// Processor time of the calling thread, which other processes cannot stretch.
inline double ThreadSeconds() { return Seconds(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace sfmla::bench
