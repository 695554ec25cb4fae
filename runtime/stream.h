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
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/handle_table.h"

namespace sfmla {

// Bytes at an address.
struct MemoryRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
};

// One piece of work. It owns everything it needs (copies and shared pointers, never descriptors of
// the caller), may be copied and may run more than once.
struct Task {
  enum class Kind : uint8_t {
    kWork,
    kRecord,    // an event is reached: happens even when the work around it is skipped
    kOperator,  // work that an update of a task group may replace
  };
  Kind kind = Kind::kWork;
  std::function<Status()> run{};
  std::string_view name{};            // of the function that queued it; lives as long as `run`
  bool caller_waits = false;          // the caller waits for it at once: it cannot be captured
  std::function<bool()> is_ready{};   // in a graph: may it run now? Empty: always
  std::vector<MemoryRange> writes{};  // device memory it may write; SFMLA_CHECK=strict only
};

// Runs the task; an exception becomes 507018.
Status RunGuarded(const Task& task);

class ReportQueue;
class Stream;

// Takes the tasks of streams in place of their queues: a graph that is captured, a task group that
// is updated. Called with the stream locked, so it must not use the stream beyond its constants.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual Status Take(const Stream& from, Task task) = 0;
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
  // 207008: no worker thread to be had; or what the sink answers.
  Result<uint64_t> Submit(Task task);

  // From now on tasks go to `sink`; false if they go to one already.
  bool Divert(std::shared_ptr<TaskSink> sink);
  // Ends that, if it is this sink they go to.
  void EndDiversion(const TaskSink* sink);
  std::shared_ptr<TaskSink> sink() const;

  // Position behind everything queued so far.
  uint64_t End() const;
  // Whether everything before `position` is done by the deadline.
  bool WaitUntil(uint64_t position, const Deadline& deadline) const;
  bool IsDone(uint64_t position) const;

  // Name of a task that is not done and may write to the range; "": none.
  std::string PendingWriter(const MemoryRange& range) const;

  // The error kept since the last call, if any; clears it.
  Status TakeError();
  // Keeps the error of work that goes on afterwards, unless there is one already.
  void KeepError(Status error);
  void SetStopOnFailure(bool stop);
  // Whether tasks of kinds other than kRecord are to be skipped now.
  bool SkipsWork() const;

  // Host functions run on the worker, or callbacks in a thread of the client, never both: 107011.
  Status UseHostFunctions();
  // 107011: there is one already.
  Status SetReportQueue(std::shared_ptr<ReportQueue> queue);
  void ClearReportQueue();
  std::shared_ptr<ReportQueue> report_queue() const;

  enum class Rest : uint8_t { kRun, kDrop };
  // Refuses further tasks. What is queued still runs, or is dropped.
  void Close(Rest rest);

  // Whether the caller is a task of this stream: waiting for it would never end.
  bool RunsOnThisThread() const;

 private:
  void StartWorker();
  void WorkerLoop();
  bool SkipsWorkLocked() const;

  const aclrtContext context_;
  const bool is_default_;
  const int32_t id_;

  mutable std::mutex mutex_;
  std::condition_variable queue_changed_;
  mutable std::condition_variable task_done_;
  std::deque<Task> queue_;
  std::string running_name_;  // of the task that runs now and has `writes`
  std::vector<MemoryRange> running_writes_;
  std::shared_ptr<TaskSink> sink_;
  std::shared_ptr<ReportQueue> report_queue_;
  uint64_t submitted_ = 0;
  uint64_t done_ = 0;
  Status error_;
  bool uses_host_functions_ = false;
  bool stop_on_failure_ = false;
  bool worker_started_ = false;
  bool closed_ = false;
  bool dropping_ = false;
};

// While it lives, the calling thread counts as one that runs work of the stream (nullptr: none).
class StreamScope {
 public:
  explicit StreamScope(const Stream* stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  const Stream* const before_;
};

HandleTable<Stream>& Streams();

// Waits until the stream has done everything queued so far and returns its error. 507046: deadline
// passed; 107000: called by a task of the stream.
Status Synchronize(Stream* stream, const Deadline& deadline);

}  // namespace sfmla
