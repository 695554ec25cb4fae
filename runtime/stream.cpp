// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "base/format.h"

namespace sfmla {
namespace {

auto& g_streams = *new HandleTable<Stream>(HandleKind::kStream);

thread_local const Stream* t_running_stream = nullptr;

int32_t NextStreamId() {
  static std::atomic<int32_t> next{0};
  return next.fetch_add(1);
}

}  // namespace

Status RunGuarded(const Task& task) {
  try {
    return task.run();
  } catch (const std::exception& error) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, Str("queued work threw: ", error.what()));
  } catch (...) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, "queued work threw an unknown exception");
  }
}

Result<Deadline> DeadlineAfter(int32_t timeout_ms) {
  if (timeout_ms == -1) return Deadline();
  if (timeout_ms <= 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("timeout: ", timeout_ms, ", must be -1 or at least 1 millisecond"));
  }
  return Deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms));
}

Stream::Stream(aclrtContext context, bool is_default)
    : context_(context), is_default_(is_default), id_(NextStreamId()) {}

Result<uint64_t> Stream::Submit(Task task) {
  std::lock_guard lock(mutex_);
  if (closed_) return Status(ACL_ERROR_RT_PARAM_INVALID, "stream: destroyed");
  if (sink_ != nullptr) {
    SFMLA_RETURN_IF_ERROR(sink_->Take(*this, std::move(task)));
    return submitted_;
  }
  if (!worker_started_) {
    try {
      StartWorker();
    } catch (const std::system_error& error) {
      return Status(ACL_ERROR_RT_NO_STREAM_RESOURCE,
                    Str("stream: no worker thread: ", error.what()));
    }
  }
  queue_.push_back(std::move(task));
  queue_changed_.notify_one();
  return ++submitted_;
}

bool Stream::Divert(std::shared_ptr<TaskSink> sink) {
  std::lock_guard lock(mutex_);
  if (sink_ != nullptr) return false;
  sink_ = std::move(sink);
  return true;
}

void Stream::EndDiversion(const TaskSink* sink) {
  std::lock_guard lock(mutex_);
  if (sink_.get() == sink) sink_ = nullptr;
}

std::shared_ptr<TaskSink> Stream::sink() const {
  std::lock_guard lock(mutex_);
  return sink_;
}

// Detached: a process may exit while work is queued, without waiting for it.
void Stream::StartWorker() {
  std::thread([self = shared_from_this()] { self->WorkerLoop(); }).detach();
  worker_started_ = true;
}

void Stream::WorkerLoop() {
  t_running_stream = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    queue_changed_.wait(lock, [&] { return !queue_.empty() || closed_; });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    running_writes_ = std::move(task.writes);
    if (!running_writes_.empty()) running_name_ = task.name;
    const bool skip = task.kind != Task::Kind::kRecord && SkipsWorkLocked();
    lock.unlock();
    Status status = skip ? Status::Ok() : RunGuarded(task);
    task.run = nullptr;  // what the task holds is released before a waiter sees it as done
    lock.lock();
    running_writes_.clear();
    ++done_;
    if (!status.ok() && error_.ok()) error_ = std::move(status);
    task_done_.notify_all();
  }
}

bool Stream::SkipsWorkLocked() const { return dropping_ || (stop_on_failure_ && !error_.ok()); }

bool Stream::SkipsWork() const {
  std::lock_guard lock(mutex_);
  return SkipsWorkLocked();
}

uint64_t Stream::End() const {
  std::lock_guard lock(mutex_);
  return submitted_;
}

bool Stream::WaitUntil(uint64_t position, const Deadline& deadline) const {
  std::unique_lock lock(mutex_);
  const auto reached = [&] { return done_ >= position; };
  if (deadline) return task_done_.wait_until(lock, *deadline, reached);
  task_done_.wait(lock, reached);
  return true;
}

bool Stream::IsDone(uint64_t position) const {
  std::lock_guard lock(mutex_);
  return done_ >= position;
}

std::string Stream::PendingWriter(const MemoryRange& range) const {
  const auto overlaps = [&](const std::vector<MemoryRange>& writes) {
    return std::any_of(writes.begin(), writes.end(), [&](const MemoryRange& write) {
      return write.begin < range.begin + range.bytes && range.begin < write.begin + write.bytes;
    });
  };
  std::lock_guard lock(mutex_);
  if (overlaps(running_writes_)) return running_name_;
  for (const Task& task : queue_) {
    if (overlaps(task.writes)) return std::string(task.name);
  }
  return {};
}

Status Stream::TakeError() {
  std::lock_guard lock(mutex_);
  return std::exchange(error_, Status::Ok());
}

void Stream::KeepError(Status error) {
  if (error.ok()) return;
  std::lock_guard lock(mutex_);
  if (error_.ok()) error_ = std::move(error);
}

void Stream::SetStopOnFailure(bool stop) {
  std::lock_guard lock(mutex_);
  stop_on_failure_ = stop;
}

void Stream::Close(Rest rest) {
  std::lock_guard lock(mutex_);
  closed_ = true;
  dropping_ = dropping_ || rest == Rest::kDrop;
  queue_changed_.notify_all();
}

Status Stream::UseHostFunctions() {
  std::lock_guard lock(mutex_);
  if (report_queue_ != nullptr) {
    return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                  "stream: a thread is subscribed to it, use aclrtLaunchCallback");
  }
  uses_host_functions_ = true;
  return Status::Ok();
}

Status Stream::SetReportQueue(std::shared_ptr<ReportQueue> queue) {
  std::lock_guard lock(mutex_);
  if (report_queue_ != nullptr) {
    return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream: a thread is subscribed to it already");
  }
  if (uses_host_functions_) {
    return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                  "stream: it was used with aclrtLaunchHostFunc, which excludes subscriptions");
  }
  report_queue_ = std::move(queue);
  return Status::Ok();
}

void Stream::ClearReportQueue() {
  std::lock_guard lock(mutex_);
  report_queue_ = nullptr;
}

std::shared_ptr<ReportQueue> Stream::report_queue() const {
  std::lock_guard lock(mutex_);
  return report_queue_;
}

bool Stream::RunsOnThisThread() const { return t_running_stream == this; }

StreamScope::StreamScope(const Stream* stream)
    : before_(std::exchange(t_running_stream, stream == nullptr ? t_running_stream : stream)) {}

StreamScope::~StreamScope() { t_running_stream = before_; }

HandleTable<Stream>& Streams() { return g_streams; }

Status Synchronize(Stream* stream, const Deadline& deadline) {
  if (stream->RunsOnThisThread()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream: called by work of this very stream, which would wait for itself");
  }
  if (!stream->WaitUntil(stream->End(), deadline)) {
    return Status(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                  "stream: its work was not done within the timeout and goes on");
  }
  return stream->TakeError();
}

}  // namespace sfmla
