// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "base/format.h"

namespace sfmla {
namespace {

thread_local const Stream* t_running_stream = nullptr;

int32_t NextStreamId() {
  static std::atomic<int32_t> next{0};
  return next.fetch_add(1);
}

Status RunGuarded(const Task& task) {
  try {
    return task.run();
  } catch (const std::exception& error) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, Str("queued work threw: ", error.what()));
  } catch (...) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION, "queued work threw an unknown exception");
  }
}

}  // namespace

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
    const bool skip = SkipsLocked(task);
    lock.unlock();
    Status status = skip ? Status::Ok() : RunGuarded(task);
    task.run = nullptr;  // what the task holds is released before a waiter sees it as done
    lock.lock();
    ++done_;
    if (!status.ok() && error_.ok()) error_ = std::move(status);
    task_done_.notify_all();
  }
}

bool Stream::SkipsLocked(const Task& task) const {
  if (task.kind == Task::Kind::kRecord) return false;
  return dropping_ || (stop_on_failure_ && !error_.ok());
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

Status Stream::TakeError() {
  std::lock_guard lock(mutex_);
  return std::exchange(error_, Status::Ok());
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

bool Stream::RunsOnThisThread() const { return t_running_stream == this; }

HandleTable<Stream>& Streams() {
  static auto* streams = new HandleTable<Stream>(HandleKind::kStream);
  return *streams;
}

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
