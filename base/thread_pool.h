// SPDX-License-Identifier: Apache-2.0
// One pool of worker threads for the whole process.
#pragma once

#include <cstdint>
#include <functional>

namespace sfmla {

class ThreadPool {
 public:
  // Threads that may run tasks of one ParallelFor at once, the caller included.
  virtual int num_threads() const = 0;

  // Equivalent to: for (int64_t i = 0; i < count; ++i) task(i, thread);
  // with the iterations spread over threads that take the next index as they become free. `thread`
  // is in [0, num_threads()) and no two running iterations of one call share it, so it may index
  // scratch memory. The caller works too and returns when all iterations are done. Safe to call
  // from several threads at once. `task` must not throw.
  virtual void ParallelFor(int64_t count,
                           const std::function<void(int64_t i, int thread)>& task) = 0;

 protected:
  ~ThreadPool() = default;
};

// Started at first use with Settings::num_threads, or as many as the system gives; never destroyed,
// so that a process may exit while kernels run. After fork() the child starts a pool of its own.
ThreadPool& ProcessThreadPool();

}  // namespace sfmla
