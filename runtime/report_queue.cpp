// SPDX-License-Identifier: Apache-2.0
#include "runtime/report_queue.h"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/format.h"
#include "runtime/capture.h"
#include "runtime/fork_order.h"

namespace sfmla {
namespace {

using Queues = std::map<uint64_t, std::shared_ptr<ReportQueue>>;

struct Threads {
  // Held across changes of a queue's streams.
  ForkMutex mutex{fork_order::kReports, [this] { EndAtFork(); }};
  Queues queues;
  std::vector<Queues> lost_at_fork;

  // Their streams ended.
  void EndAtFork() { lost_at_fork.push_back(std::exchange(queues, {})); }
};

auto& g_threads = *new Threads;

std::shared_ptr<ReportQueue> FindQueue(uint64_t thread_id) {
  std::lock_guard lock(g_threads.mutex);
  const auto found = g_threads.queues.find(thread_id);
  return found == g_threads.queues.end() ? nullptr : found->second;
}

Status NotSubscribed(uint64_t thread_id) {
  return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                Str("thread: ", thread_id, " has no subscription, call aclrtSubscribeReport"));
}

Status NobodyListens() {
  return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                "stream: no thread is subscribed to it, call aclrtSubscribeReport");
}

// Runs on the worker of the stream.
Status Deliver(Stream* stream, aclrtCallback function, void* user_data, bool block) {
  const std::shared_ptr<ReportQueue> queue = stream->report_queue();
  auto callback = std::make_shared<PendingCallback>(function, user_data, block ? stream : nullptr);
  if (queue == nullptr || !queue->Push(stream->id(), callback)) return NobodyListens();
  return block ? callback->WaitUntilRun() : Status::Ok();
}

}  // namespace

void PendingCallback::Run() {
  try {
    const StreamScope scope(blocked_);
    function_(user_data_);
  } catch (...) {
    Finish(State::kThrew);
    throw;
  }
  Finish(State::kRun);
}

void PendingCallback::Drop() { Finish(State::kDropped); }

void PendingCallback::Finish(State state) {
  std::lock_guard lock(mutex_);
  state_ = state;
  finished_.notify_all();
}

Status PendingCallback::WaitUntilRun() const {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return state_ != State::kQueued; });
  if (state_ == State::kRun) return Status::Ok();
  if (state_ == State::kThrew) {
    return Status(ACL_ERROR_RT_AICPU_EXCEPTION,
                  "stream: a callback that it waited for threw an exception");
  }
  return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                "stream: unsubscribed before a callback that it waited for had run");
}

void ReportQueue::Add(int32_t stream_id) {
  std::lock_guard lock(mutex_);
  stream_ids_.insert(stream_id);
}

bool ReportQueue::Remove(int32_t stream_id) {
  std::lock_guard lock(mutex_);
  stream_ids_.erase(stream_id);
  const auto first_dropped =
      std::stable_partition(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.stream_id != stream_id; });
  for (auto entry = first_dropped; entry != entries_.end(); ++entry) entry->callback->Drop();
  entries_.erase(first_dropped, entries_.end());
  changed_.notify_all();
  return stream_ids_.empty();
}

bool ReportQueue::Push(int32_t stream_id, std::shared_ptr<PendingCallback> callback) {
  std::lock_guard lock(mutex_);
  if (stream_ids_.count(stream_id) == 0) return false;
  entries_.push_back({stream_id, std::move(callback)});
  changed_.notify_all();
  return true;
}

Result<std::shared_ptr<PendingCallback>> ReportQueue::Pop(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto has_news = [&] { return !entries_.empty() || stream_ids_.empty(); };
  if (!deadline) {
    changed_.wait(lock, has_news);
  } else if (!changed_.wait_until(lock, *deadline, has_news)) {
    return Status(ACL_ERROR_RT_REPORT_TIMEOUT, "report: no callback arrived within the timeout");
  }
  if (entries_.empty()) return NotSubscribed(pthread_self());
  std::shared_ptr<PendingCallback> callback = std::move(entries_.front().callback);
  entries_.pop_front();
  return callback;
}

Status SubscribeReport(uint64_t thread_id, Stream* stream) {
  std::lock_guard lock(g_threads.mutex);
  std::shared_ptr<ReportQueue>& queue = g_threads.queues[thread_id];
  const bool is_new = queue == nullptr;
  if (is_new) queue = std::make_shared<ReportQueue>();
  Status status = stream->SetReportQueue(queue);
  if (status.ok()) queue->Add(stream->id());
  if (!status.ok() && is_new) g_threads.queues.erase(thread_id);
  return status;
}

Status UnsubscribeReport(uint64_t thread_id, Stream* stream) {
  const std::shared_ptr<ReportQueue> queue = FindQueue(thread_id);
  if (queue == nullptr) return NotSubscribed(thread_id);
  if (stream->report_queue() != queue) {
    return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  Str("stream: thread ", thread_id, " is not subscribed to it"));
  }
  EndReports(stream);
  return Status::Ok();
}

void EndReports(Stream* stream) {
  std::lock_guard lock(g_threads.mutex);
  const std::shared_ptr<ReportQueue> queue = stream->report_queue();
  if (queue == nullptr) return;
  stream->ClearReportQueue();
  if (!queue->Remove(stream->id())) return;
  std::erase_if(g_threads.queues, [&](const auto& entry) { return entry.second == queue; });
}

Status LaunchCallback(Stream* stream, aclrtCallback function, void* user_data,
                      aclrtCallbackBlockType block_type) {
  if (block_type != ACL_CALLBACK_NO_BLOCK && block_type != ACL_CALLBACK_BLOCK) {
    return Status(ACL_ERROR_INVALID_PARAM, Str("blockType: ", static_cast<int>(block_type),
                                               ", must be an aclrtCallbackBlockType"));
  }
  if (stream->report_queue() == nullptr) return NobodyListens();
  if (CaptureOf(*stream) != nullptr) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "stream: it is captured, and callbacks for other threads cannot be; use "
                  "aclrtLaunchHostFunc");
  }
  Task task;
  task.name = "aclrtLaunchCallback";
  task.run = [=] { return Deliver(stream, function, user_data, block_type == ACL_CALLBACK_BLOCK); };
  return stream->Submit(std::move(task)).status();
}

Status ProcessReport(const Deadline& deadline) {
  const std::shared_ptr<ReportQueue> queue = FindQueue(pthread_self());
  if (queue == nullptr) return NotSubscribed(pthread_self());
  const Result<std::shared_ptr<PendingCallback>> callback = queue->Pop(deadline);
  if (!callback.ok()) return callback.status();
  callback.value()->Run();
  return Status::Ok();
}

}  // namespace sfmla
