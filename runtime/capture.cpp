// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/fork.h"
#include "base/format.h"
#include "runtime/fork_order.h"
#include "runtime/refusals.h"

namespace sfmla {
namespace {

thread_local aclmdlRICaptureMode t_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

struct OpenCaptures {
  std::atomic<int> count{0};  // lets the common case, none, take no lock
  ForkMutex mutex{fork_order::kCaptures, [this] { EndAtFork(); }};
  std::vector<std::shared_ptr<Capture>> captures;
  std::vector<std::shared_ptr<Capture>> lost_at_fork;

  // Their streams ended.
  void EndAtFork() {
    count = 0;
    std::move(captures.begin(), captures.end(), std::back_inserter(lost_at_fork));
    captures.clear();
  }
};

auto& g_open = *new OpenCaptures;

template <typename Predicate>
bool AnyOpen(const Predicate& accept) {
  if (g_open.count.load() == 0) return false;
  std::lock_guard lock(g_open.mutex);
  return std::any_of(g_open.captures.begin(), g_open.captures.end(),
                     [&](const auto& capture) { return accept(*capture); });
}

void AddOpen(std::shared_ptr<Capture> capture) {
  std::lock_guard lock(g_open.mutex);
  g_open.captures.push_back(std::move(capture));
  ++g_open.count;
}

void RemoveOpen(const Capture* capture) {
  std::lock_guard lock(g_open.mutex);
  g_open.count -= static_cast<int>(
      std::erase_if(g_open.captures, [&](const auto& entry) { return entry.get() == capture; }));
}

Status CheckMode(aclmdlRICaptureMode mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return Status::Ok();
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Str("mode: ", static_cast<int>(mode), ", must be an aclmdlRICaptureMode"));
}

}  // namespace

Capture::Capture(Stream* origin, aclmdlRICaptureMode mode)
    : mode_(mode),
      context_(origin->context()),
      origin_id_(origin->id()),
      thread_(std::this_thread::get_id()),
      graph_(std::make_shared<Graph>(origin->context())),
      handle_(Graphs().Insert(graph_)),
      streams_{origin->weak_from_this()} {}

Status Capture::InvalidatedLocked() const {
  if (invalidated_.ok()) return Status::Ok();
  return Status(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                Str("stream: its capture was invalidated by an earlier error: ",
                    invalidated_.text(), " (", invalidated_.code(), ")"));
}

Status Capture::Take(const Stream& from, Task task) {
  std::lock_guard lock(mutex_);
  SFMLA_RETURN_IF_ERROR(InvalidatedLocked());
  if (task.caller_waits) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str(task.name, ": pageable host memory cannot be captured, it must be pinned"));
  }
  const bool updatable = task.kind == Task::Kind::kOperator;
  const size_t node = graph_->Append(from.id(), std::move(task), std::nullopt);
  if (updatable && group_ != nullptr) group_->nodes.push_back(node);
  return Status::Ok();
}

Result<size_t> Capture::Record(const Stream& on) {
  std::lock_guard lock(mutex_);
  SFMLA_RETURN_IF_ERROR(InvalidatedLocked());
  return graph_->Append(on.id(), {.name = "aclrtRecordEvent"}, std::nullopt);
}

Status Capture::Wait(Stream* stream, size_t record) {
  {
    std::lock_guard lock(mutex_);
    streams_.push_back(stream->weak_from_this());
  }
  stream->Divert(shared_from_this());
  if (!IsOpen()) {  // ended meanwhile, perhaps before it could set this stream free
    stream->EndDiversion(this);
    return Status::Ok();
  }
  if (const std::shared_ptr<TaskSink> sink = stream->sink(); sink.get() != this) {
    const Status conflict(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                          "stream: belongs to another capture than the record of the event");
    Invalidate(conflict);
    if (const auto other = std::dynamic_pointer_cast<Capture>(sink)) other->Invalidate(conflict);
    return conflict;
  }
  std::lock_guard lock(mutex_);
  SFMLA_RETURN_IF_ERROR(InvalidatedLocked());
  graph_->Append(stream->id(), {.name = "aclrtStreamWaitEvent"}, record);
  return Status::Ok();
}

void Capture::Invalidate(const Status& why) {
  std::lock_guard lock(mutex_);
  if (invalidated_.ok()) invalidated_ = why;
}

bool Capture::IsInvalidated() const {
  std::lock_guard lock(mutex_);
  return !invalidated_.ok();
}

bool Capture::IsOpen() const {
  std::lock_guard lock(mutex_);
  return open_;
}

Status Capture::BeginGroup() {
  std::lock_guard lock(mutex_);
  if (group_ != nullptr) {
    return Status(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "stream: a task group is open already, groups do not nest");
  }
  group_ = std::make_shared<TaskGroup>();
  group_->graph = graph_;
  return Status::Ok();
}

Result<aclrtTaskGrp> Capture::EndGroup() {
  std::lock_guard lock(mutex_);
  if (group_ == nullptr) {
    return Status(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "stream: no task group is open, call aclmdlRICaptureTaskGrpBegin first");
  }
  aclrtTaskGrp handle = TaskGroups().Insert(std::exchange(group_, nullptr));
  graph_->OwnGroup(handle);
  return handle;
}

Status Capture::OutcomeLocked() const {
  SFMLA_RETURN_IF_ERROR(InvalidatedLocked());
  if (group_ != nullptr) {
    return Status(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "stream: a task group is open, call aclmdlRICaptureTaskGrpEnd first");
  }
  if (graph_->EverythingLeadsTo(origin_id_)) return Status::Ok();
  return Status(ACL_ERROR_RT_STREAM_UNJOINED,
                "stream: a sub stream was not joined: record an event behind its last work and "
                "let the stream of the capture wait for it");
}

void Capture::Close() {
  std::vector<std::weak_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    open_ = false;
    streams.swap(streams_);
  }
  RemoveOpen(this);
  for (const std::weak_ptr<Stream>& entry : streams) {
    if (const std::shared_ptr<Stream> stream = entry.lock()) stream->EndDiversion(this);
  }
}

Status Capture::End() {
  Close();
  std::lock_guard lock(mutex_);
  Status outcome = OutcomeLocked();
  if (outcome.ok()) {
    graph_->Seal();
  } else {
    Graphs().Remove(handle_);
  }
  return outcome;
}

void Capture::Drop() {
  Close();
  Graphs().Remove(handle_);
}

std::shared_ptr<Capture> CaptureOf(const Stream& stream) {
  return std::dynamic_pointer_cast<Capture>(stream.sink());
}

Status BeginCapture(Stream* stream, aclmdlRICaptureMode mode) {
  if (stream->is_default()) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "stream: the default stream cannot be captured, create another one");
  }
  SFMLA_RETURN_IF_ERROR(CheckMode(mode));
  auto capture = std::make_shared<Capture>(stream, mode);
  AddOpen(capture);
  if (stream->Divert(capture)) return Status::Ok();
  capture->Drop();
  if (CaptureOf(*stream) != nullptr) {
    return Status(ACL_ERROR_RT_STREAM_CAPTURED, "stream: it is captured already");
  }
  return Status(ACL_ERROR_RT_STREAM_MODEL,
                "stream: a task group is being updated on it, call "
                "aclmdlRICaptureTaskUpdateEnd first");
}

Result<aclmdlRI> EndCapture(const Stream& stream) {
  const std::shared_ptr<Capture> capture = CaptureOf(stream);
  if (capture == nullptr) {
    return Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                  "stream: it is not captured, call aclmdlRICaptureBegin first");
  }
  if (!capture->BegunBy(stream)) {
    return Status(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                  "stream: it joined a capture that was begun on another stream");
  }
  if (capture->mode() != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && !capture->BegunByThisThread()) {
    capture->Drop();
    return Status(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                  "stream: its capture was begun by another thread, which must end it unless the "
                  "mode is relaxed; the capture is dropped");
  }
  SFMLA_RETURN_IF_ERROR(capture->End());
  return capture->graph();
}

void DropCapture(const Stream& stream) {
  if (const std::shared_ptr<Capture> capture = CaptureOf(stream)) capture->Drop();
}

Result<aclmdlRICaptureMode> ExchangeThreadCaptureMode(aclmdlRICaptureMode mode) {
  SFMLA_RETURN_IF_ERROR(CheckMode(mode));
  return std::exchange(t_mode, mode);
}

Status RefuseIfCaptured(const Stream& stream, const char* action) {
  if (CaptureOf(stream) == nullptr) return Status::Ok();
  return Status(ACL_ERROR_RT_STREAM_CAPTURED,
                Str("stream: it is captured, nothing may ", action, " before the capture ends"));
}

Status RefuseIfAnyCaptured(aclrtContext context) {
  if (!AnyOpen([&](const Capture& capture) { return capture.context() == context; })) {
    return Status::Ok();
  }
  return Status(ACL_ERROR_RT_STREAM_CAPTURED,
                "device: a stream of the current context is captured, nothing may wait for it");
}

Status RefuseUnderCapture(aclrtContext context, int32_t code) {
  if (t_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return Status::Ok();
  const bool forbidden = AnyOpen([&](const Capture& capture) {
    if (capture.context() != context || capture.mode() == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
      return false;
    }
    return capture.BegunByThisThread() || (capture.mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                                           t_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  });
  if (!forbidden) return Status::Ok();
  return Status(code,
                "capture mode: a capture in this context forbids calls that run at once, unless "
                "the thread exchanges its mode to relaxed");
}

}  // namespace sfmla
