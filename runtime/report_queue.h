// SPDX-License-Identifier: Apache-2.0
// Callbacks that streams hand to threads of the client, which run them in aclrtProcessReport.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/stream.h"

namespace sfmla {

// One callback on its way: queued, then run or dropped for good.
class PendingCallback {
 public:
  // `blocked`: the stream that waits for the callback, or nullptr.
  PendingCallback(aclrtCallback function, void* user_data, const Stream* blocked)
      : function_(function), user_data_(user_data), blocked_(blocked) {}

  // Lets what the callback throws pass.
  void Run();
  void Drop();
  // 507018: it threw. 107015: it was dropped.
  Status WaitUntilRun() const;

 private:
  enum class State : uint8_t { kQueued, kRun, kThrew, kDropped };
  void Finish(State state);

  const aclrtCallback function_;
  void* const user_data_;
  const Stream* const blocked_;
  mutable std::mutex mutex_;
  mutable std::condition_variable finished_;
  State state_ = State::kQueued;
};

// What one thread of the client has to run.
class ReportQueue {
 public:
  void Add(int32_t stream_id);
  // Drops what the stream has queued. Returns whether no stream is left.
  bool Remove(int32_t stream_id);

  // False if the stream was removed.
  bool Push(int32_t stream_id, std::shared_ptr<PendingCallback> callback);
  // The oldest one. 507012: none by the deadline; 107012: no stream is left.
  Result<std::shared_ptr<PendingCallback>> Pop(const Deadline& deadline);

 private:
  struct Entry {
    int32_t stream_id;
    std::shared_ptr<PendingCallback> callback;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::set<int32_t> stream_ids_;
};

// The codes of the functions of the same names.
Status SubscribeReport(uint64_t thread_id, Stream* stream);
Status UnsubscribeReport(uint64_t thread_id, Stream* stream);
// For a stream that ends: what it has queued for a thread is dropped.
void EndReports(Stream* stream);
Status LaunchCallback(Stream* stream, aclrtCallback function, void* user_data,
                      aclrtCallbackBlockType block_type);
// Runs the next callback of the calling thread.
Status ProcessReport(const Deadline& deadline);

}  // namespace sfmla
