// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.h"

#include <utility>

#include "runtime/capture.h"

namespace sfmla {
namespace {

auto& g_events = *new HandleTable<Event>(HandleKind::kEvent);

Status RefuseDefaultStream() {
  return Status(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                "event: its record is captured, and the default stream cannot join a capture");
}

// Not Ex and not external: on a captured stream it has no meaning.
Status RefusePlain(Capture* capture) {
  Status refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "event: a captured stream takes events made with aclrtCreateEventExWithFlag or "
                 "with ACL_EVENT_EXTERNAL only");
  capture->Invalidate(refused);
  return refused;
}

}  // namespace

void EventMark::Reach() {
  std::lock_guard lock(mutex_);
  reached_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

bool EventMark::Wait(const Deadline& deadline) const {
  std::unique_lock lock(mutex_);
  const auto is_reached = [&] { return reached_.has_value(); };
  if (deadline) return changed_.wait_until(lock, *deadline, is_reached);
  changed_.wait(lock, is_reached);
  return true;
}

std::optional<std::chrono::steady_clock::time_point> EventMark::reached() const {
  std::lock_guard lock(mutex_);
  return reached_;
}

Event::CapturedMark Event::OpenMark() const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Capture> capture = capture_.lock();
  if (capture == nullptr || !capture->IsOpen()) return {};
  return {std::move(capture), captured_node_};
}

Status Event::Record(Stream* stream) {
  if (const auto capture = CaptureOf(*stream)) return RecordInCapture(capture.get(), stream);
  if (stream->is_default() && IsCaptured()) return RefuseDefaultStream();
  auto mark = std::make_shared<EventMark>(stream->weak_from_this());
  // The lock spans both steps: marks become newest in the order in which they are queued.
  std::lock_guard lock(mutex_);
  Task task;
  task.kind = Task::Kind::kRecord;
  task.name = "aclrtRecordEvent";
  task.run = [mark, self = shared_from_this()] {
    mark->Reach();
    self->Set(true);
    return Status::Ok();
  };
  const Result<uint64_t> position = stream->Submit(std::move(task));
  if (!position.ok()) return position.status();
  newest_ = std::move(mark);
  capture_.reset();
  return Status::Ok();
}

Status Event::RecordInCapture(Capture* capture, Stream* stream) {
  if (is_external()) {
    Task task;
    task.kind = Task::Kind::kRecord;
    task.name = "aclrtRecordEvent";
    task.run = [self = shared_from_this()] {
      self->Set(true);
      return Status::Ok();
    };
    return stream->Submit(std::move(task)).status();
  }
  if (style_ == EventStyle::kPlain) return RefusePlain(capture);
  const Result<size_t> node = capture->Record(*stream);
  if (!node.ok()) return node.status();
  std::lock_guard lock(mutex_);
  newest_ = nullptr;
  capture_ = capture->weak_from_this();
  captured_node_ = node.value();
  return Status::Ok();
}

Status Event::EnqueueWait(Stream* stream) {
  if (const auto capture = CaptureOf(*stream)) return WaitInCapture(capture.get(), stream);
  if (const CapturedMark mark = OpenMark(); mark.capture != nullptr) {
    if (stream->is_default()) return RefuseDefaultStream();
    return mark.capture->Wait(stream, mark.node);
  }
  const std::shared_ptr<const EventMark> mark = newest();
  if (mark == nullptr || mark->reached()) return Status::Ok();
  Task task;
  task.name = "aclrtStreamWaitEvent";
  task.run = [mark] {
    mark->Wait(Deadline());
    return Status::Ok();
  };
  return stream->Submit(std::move(task)).status();
}

Status Event::WaitInCapture(Capture* capture, Stream* stream) {
  if (is_external()) {
    Task task;
    task.name = "aclrtStreamWaitEvent";
    task.is_ready = [self = shared_from_this()] { return self->IsSet(); };
    return stream->Submit(std::move(task)).status();
  }
  if (style_ == EventStyle::kPlain) return RefusePlain(capture);
  if (const CapturedMark mark = OpenMark(); mark.capture != nullptr) {
    return mark.capture->Wait(stream, mark.node);
  }
  if (newest() == nullptr) return Status::Ok();
  Status outside(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                 "event: its record is not part of the capture that the stream belongs to");
  capture->Invalidate(outside);
  return outside;
}

Status Event::Reset(Stream* stream) {
  if (const auto capture = CaptureOf(*stream); capture != nullptr && !is_external()) {
    return RefusePlain(capture.get());
  }
  Task task;
  task.kind = Task::Kind::kRecord;
  task.name = "aclrtResetEvent";
  task.run = [mark = newest(), self = shared_from_this()] {
    self->Set(false);
    // A record made after this call counts.
    std::lock_guard lock(self->mutex_);
    if (self->newest_ == mark) self->newest_ = nullptr;
    return Status::Ok();
  };
  return stream->Submit(std::move(task)).status();
}

void Event::Set(bool value) {
  std::lock_guard lock(mutex_);
  set_ = value;
}

bool Event::IsSet() const {
  std::lock_guard lock(mutex_);
  return set_;
}

std::shared_ptr<const EventMark> Event::newest() const {
  std::lock_guard lock(mutex_);
  return newest_;
}

HandleTable<Event>& Events() { return g_events; }

}  // namespace sfmla
