// SPDX-License-Identifier: Apache-2.0
// A movable mark in a stream.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/handle_table.h"
#include "runtime/stream.h"

namespace sfmla {

// One record of an event: unreached, then reached for good.
class EventMark {
 public:
  explicit EventMark(std::weak_ptr<Stream> stream) : stream_(std::move(stream)) {}

  void Reach();
  // False if the deadline passed first.
  bool Wait(const Deadline& deadline) const;
  // When it was reached, if it was.
  std::optional<std::chrono::steady_clock::time_point> reached() const;
  // The stream it was recorded on, unless that is gone.
  std::shared_ptr<Stream> stream() const { return stream_.lock(); }

 private:
  const std::weak_ptr<Stream> stream_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> reached_;
};

enum class EventStyle : uint8_t { kPlain, kEx };

class Event {
 public:
  Event(aclrtContext context, EventStyle style, bool takes_time_stamps)
      : context_(context), style_(style), takes_time_stamps_(takes_time_stamps) {}

  aclrtContext context() const { return context_; }
  EventStyle style() const { return style_; }
  bool takes_time_stamps() const { return takes_time_stamps_; }

  // Moves the mark to the end of the stream.
  Status Record(Stream* stream);
  // Makes later work of the stream wait for the newest mark; no mark: nothing.
  Status EnqueueWait(Stream* stream) const;
  // The newest mark; nullptr if it was never recorded.
  std::shared_ptr<const EventMark> newest() const;

 private:
  const aclrtContext context_;
  const EventStyle style_;
  const bool takes_time_stamps_;
  mutable std::mutex mutex_;
  std::shared_ptr<EventMark> newest_;
};

HandleTable<Event>& Events();

}  // namespace sfmla
