// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sfmla {
namespace {

// Runs `count` iterations and says whether each ran exactly once.
bool EachOnce(int64_t count) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
  ProcessThreadPool().ParallelFor(
      count, [&](int64_t i, int) { visits[static_cast<size_t>(i)].fetch_add(1); });
  for (const std::atomic<int>& visit : visits) {
    if (visit.load() != 1) return false;
  }
  return true;
}

TEST_CASE("thread pool: each iteration runs once") {
  for (const int64_t count : {0, 1, 2, 3, 100, 10000}) CHECK(EachOnce(count));
}

TEST_CASE("thread pool: thread numbers are in range and never shared by two running iterations") {
  ThreadPool& pool = ProcessThreadPool();
  std::vector<std::atomic<int>> running(static_cast<size_t>(pool.num_threads()));
  std::atomic<bool> in_range{true};
  std::atomic<bool> exclusive{true};
  pool.ParallelFor(2000, [&](int64_t, int thread) {
    if (thread < 0 || thread >= pool.num_threads()) {
      in_range = false;
      return;
    }
    std::atomic<int>& mine = running[static_cast<size_t>(thread)];
    if (mine.fetch_add(1) != 0) exclusive = false;
    std::this_thread::yield();
    mine.fetch_sub(1);
  });
  CHECK(in_range.load());
  CHECK(exclusive.load());
}

TEST_CASE("thread pool: callers on several threads") {
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) good += EachOnce(37);
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(good.load() == 4 * 50);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("thread pool: a forked child has a pool of its own") {
  REQUIRE(EachOnce(100));
  const pid_t child = fork();
  if (child == 0) _exit(EachOnce(100) ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace sfmla
