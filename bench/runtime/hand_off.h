// SPDX-License-Identifier: Apache-2.0
// The least that handing work to another thread can cost: a queue, a mutex, two conditions.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace sfmla::bench {

class HandOff {
 public:
  HandOff();
  ~HandOff();
  HandOff(const HandOff&) = delete;
  HandOff& operator=(const HandOff&) = delete;

  // Hands one piece of work, which does nothing, to the worker.
  void Submit();
  // Until everything handed over is done.
  void Wait();

 private:
  static void* Work(void* self);

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t queued_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t finished_ = PTHREAD_COND_INITIALIZER;
  pthread_t worker_{};
  int64_t submitted_ = 0;
  int64_t done_ = 0;
  bool closed_ = false;
};

}  // namespace sfmla::bench
