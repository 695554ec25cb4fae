// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.h"

#include <utility>

namespace sfmla {

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

Status Event::Record(Stream* stream) {
  auto mark = std::make_shared<EventMark>(stream->weak_from_this());
  // The lock spans both steps: marks become newest in the order in which they are queued.
  std::lock_guard lock(mutex_);
  const Result<uint64_t> position = stream->Submit({Task::Kind::kRecord, [mark] {
                                                      mark->Reach();
                                                      return Status::Ok();
                                                    }});
  if (position.ok()) newest_ = std::move(mark);
  return position.status();
}

Status Event::EnqueueWait(Stream* stream) const {
  const std::shared_ptr<const EventMark> mark = newest();
  if (mark == nullptr || mark->reached()) return Status::Ok();
  return stream
      ->Submit({Task::Kind::kWork,
                [mark] {
                  mark->Wait(Deadline());
                  return Status::Ok();
                }})
      .status();
}

std::shared_ptr<const EventMark> Event::newest() const {
  std::lock_guard lock(mutex_);
  return newest_;
}

HandleTable<Event>& Events() {
  static auto* events = new HandleTable<Event>(HandleKind::kEvent);
  return *events;
}

}  // namespace sfmla
