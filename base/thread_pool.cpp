// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/fork.h"
#include "base/settings.h"

namespace sfmla {
namespace {

// Waking a thread takes longer than a short kernel may lose, and the kernels of a step follow each
// other closely: both sides look for this long before they sleep.
constexpr std::chrono::microseconds kSpinTime{50};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // unlike yield it does take time
#endif
}

template <typename Condition>
void SpinUntil(const Condition& condition) {
  constexpr int kPausesPerReading = 32;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerReading; ++i) {
      if (condition()) return;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
}

// One ParallelFor: threads draw the next iteration from `next`; the last one to leave wakes the
// caller.
struct Job {
  int64_t count = 0;
  const std::function<void(int64_t, int)>* task = nullptr;
  std::atomic<int64_t> next{0};
  int max_threads = 1;
  int joined = 0;               // guarded by Pool::mutex_; thread number of the next one to join
  std::atomic<int> working{0};  // changed under Pool::mutex_

  void Work(int thread) {
    for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) (*task)(i, thread);
  }
};

class Pool final : public ThreadPool {
 public:
  // Fewer threads where the system gives no more: a worker that runs must never lose its pool.
  explicit Pool(int wanted) {
    try {
      for (; num_threads_ < wanted; ++num_threads_) std::thread([this] { WorkerLoop(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  int num_threads() const override { return num_threads_; }

  void ParallelFor(int64_t count, const std::function<void(int64_t, int)>& task) override {
    if (num_threads_ == 1 || count <= 1) {
      for (int64_t i = 0; i < count; ++i) task(i, 0);
      return;
    }
    const auto job = std::make_shared<Job>();
    job->count = count;
    job->task = &task;
    job->max_threads = static_cast<int>(std::min<int64_t>(num_threads_, count));
    job->joined = 1;
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(job);
      has_jobs_.store(true, std::memory_order_relaxed);
    }
    work_available_.notify_all();
    job->Work(0);
    SpinUntil([&] { return job->working.load(std::memory_order_relaxed) == 0; });
    std::unique_lock lock(mutex_);
    Remove(job);
    job_left_.wait(lock, [&] { return job->working == 0; });
  }

 private:
  void WorkerLoop() {
    for (;;) {
      SpinUntil([this] { return has_jobs_.load(std::memory_order_relaxed); });
      std::unique_lock lock(mutex_);
      work_available_.wait(lock, [&] { return !jobs_.empty(); });
      const std::shared_ptr<Job> job = jobs_.front();
      const int thread = job->joined++;
      ++job->working;
      if (job->joined == job->max_threads) Remove(job);
      lock.unlock();
      job->Work(thread);
      lock.lock();
      // All iterations are drawn by now, so nobody else needs to join.
      Remove(job);
      if (--job->working == 0) job_left_.notify_all();
    }
  }

  void Remove(const std::shared_ptr<Job>& job) {
    std::erase(jobs_, job);
    has_jobs_.store(!jobs_.empty(), std::memory_order_relaxed);
  }

  int num_threads_ = 1;
  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable job_left_;
  std::deque<std::shared_ptr<Job>> jobs_;  // those that may still be joined
  std::atomic<bool> has_jobs_{false};      // changed under mutex_
};

std::atomic<Pool*> g_pool{nullptr};

constexpr int kForkOrder = 100;  // behind all locks but that of the settings
// The workers do not exist in a forked child; it must not hand them work.
auto& g_pool_mutex = *new ForkMutex(kForkOrder, [] { g_pool.store(nullptr); });

}  // namespace

ThreadPool& ProcessThreadPool() {
  Pool* pool = g_pool.load(std::memory_order_acquire);
  if (pool == nullptr) {
    std::lock_guard lock(g_pool_mutex);
    pool = g_pool.load(std::memory_order_acquire);
    if (pool == nullptr) {
      const Result<Settings>& settings = ProcessSettings();
      pool = new Pool(settings.ok() ? settings->num_threads : 1);
      g_pool.store(pool, std::memory_order_release);
    }
  }
  return *pool;
}

}  // namespace sfmla
