// SPDX-License-Identifier: Apache-2.0
// An ordered queue of tasks with one worker thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/handle_table.h"

namespace sfmla {

// One piece of work. It owns everything it needs (copies and shared pointers, never descriptors of
// the caller), may be copied and may run more than once.
struct Task {
  enum class Kind : uint8_t {
    kWork,
    kRecord,  // an event is reached: happens even when the work around it is skipped
  };
  Kind kind = Kind::kWork;
  std::function<Status()> run;
};

// How long a wait may last; no value: for ever.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
// `timeout_ms` as in the C interface: -1 for ever, positive milliseconds, else 107000.
Result<Deadline> DeadlineAfter(int32_t timeout_ms);

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(aclrtContext context, bool is_default);

  aclrtContext context() const { return context_; }
  bool is_default() const { return is_default_; }
  // Small, unique, growing in order of creation.
  int32_t id() const { return id_; }

  // The only way to queue. Returns the position behind the task, for WaitUntil. 107000: closed;
  // 207008: no worker thread to be had.
  Result<uint64_t> Submit(Task task);

  // Position behind everything queued so far.
  uint64_t End() const;
  // Whether everything before `position` is done by the deadline.
  bool WaitUntil(uint64_t position, const Deadline& deadline) const;
  bool IsDone(uint64_t position) const;

  // The error kept since the last call, if any; clears it.
  Status TakeError();
  void SetStopOnFailure(bool stop);

  enum class Rest : uint8_t { kRun, kDrop };
  // Refuses further tasks. What is queued still runs, or is dropped.
  void Close(Rest rest);

  // Whether the caller is a task of this stream: waiting for it would never end.
  bool RunsOnThisThread() const;

 private:
  void StartWorker();
  void WorkerLoop();
  bool SkipsLocked(const Task& task) const;

  const aclrtContext context_;
  const bool is_default_;
  const int32_t id_;

  mutable std::mutex mutex_;
  std::condition_variable queue_changed_;
  mutable std::condition_variable task_done_;
  std::deque<Task> queue_;
  uint64_t submitted_ = 0;
  uint64_t done_ = 0;
  Status error_;
  bool stop_on_failure_ = false;
  bool worker_started_ = false;
  bool closed_ = false;
  bool dropping_ = false;
};

HandleTable<Stream>& Streams();

// Waits until the stream has done everything queued so far and returns its error. 507046: deadline
// passed; 107000: called by a task of the stream.
Status Synchronize(Stream* stream, const Deadline& deadline);

}  // namespace sfmla
