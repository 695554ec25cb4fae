// SPDX-License-Identifier: Apache-2.0
// Capturing streams: their tasks become nodes of a graph instead of being queued.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/graph.h"
#include "runtime/stream.h"

namespace sfmla {

class Capture final : public TaskSink, public std::enable_shared_from_this<Capture> {
 public:
  Capture(Stream* origin, aclmdlRICaptureMode mode);

  // 507903: invalidated.
  Status Take(const Stream& from, Task task) override;

  // The node that an event recorded on a captured stream stands for.
  Result<size_t> Record(const Stream& on);
  // Makes what `stream` does from now on come after that node; a stream that is not captured yet
  // joins. 107032: the stream belongs to another capture, which is invalidated too.
  Status Wait(Stream* stream, size_t record);

  // Ends in failure at CaptureEnd; the first reason is kept.
  void Invalidate(const Status& why);
  bool IsOpen() const;

  // Task groups, see aclmdlRICaptureTaskGrpBegin: 107033 out of order.
  Status BeginGroup();
  Result<aclrtTaskGrp> EndGroup();

  aclmdlRI graph() const { return handle_; }
  aclmdlRICaptureMode mode() const { return mode_; }
  aclrtContext context() const { return context_; }
  bool BegunBy(const Stream& stream) const { return stream.id() == origin_id_; }
  bool BegunByThisThread() const { return thread_ == std::this_thread::get_id(); }
  bool IsInvalidated() const;

  // Ends it, whatever the outcome: its streams queue again. Returns the first of the reasons for
  // which there is no graph, which is then destroyed.
  Status End();
  void Drop();

 private:
  Status InvalidatedLocked() const;
  Status OutcomeLocked() const;
  void Close();

  const aclmdlRICaptureMode mode_;
  const aclrtContext context_;
  const int32_t origin_id_;
  const std::thread::id thread_;
  const std::shared_ptr<Graph> graph_;
  const aclmdlRI handle_;

  mutable std::mutex mutex_;  // guards what follows; a stream's lock may be held, never taken
  std::vector<std::weak_ptr<Stream>> streams_;
  Status invalidated_;
  bool open_ = true;
  std::shared_ptr<TaskGroup> group_;  // the one that is open
};

// The capture that a stream belongs to, or nullptr.
std::shared_ptr<Capture> CaptureOf(const Stream& stream);

// 207000: the default stream; 107000: no such mode; 107027: captured already; 107005: a task group
// is being updated on it.
Status BeginCapture(Stream* stream, aclmdlRICaptureMode mode);
// The codes of aclmdlRICaptureEnd.
Result<aclmdlRI> EndCapture(const Stream& stream);
// For a stream that ends with its context.
void DropCapture(const Stream& stream);

// The capture mode of this thread becomes `mode`; returns the one before. 107000: no such mode.
Result<aclmdlRICaptureMode> ExchangeThreadCaptureMode(aclmdlRICaptureMode mode);

// 107027 if the stream is captured; `action` ("wait for it") is what needs work that really runs.
Status RefuseIfCaptured(const Stream& stream, const char* action);
// 107027 if any stream of the context is captured.
Status RefuseIfAnyCaptured(aclrtContext context);
// `code` if a capture in the context forbids this thread calls that run at once.
Status RefuseUnderCapture(aclrtContext context, int32_t code);

}  // namespace sfmla
