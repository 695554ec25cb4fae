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

class Capture;

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

// `flags` are ACL_EVENT_... combined.
//
// On a captured stream only two kinds may be recorded and waited for, others are refused with
// 207000 and invalidate the capture: Ex events become edges of the graph; ACL_EVENT_EXTERNAL ones
// become nodes that are reached, or wait until the event is, in each replay.
class Event : public std::enable_shared_from_this<Event> {
 public:
  Event(aclrtContext context, EventStyle style, uint32_t flags)
      : context_(context), style_(style), flags_(flags) {}

  aclrtContext context() const { return context_; }
  EventStyle style() const { return style_; }
  bool takes_time_stamps() const { return (flags_ & ACL_EVENT_TIME_LINE) != 0; }
  bool is_external() const { return (flags_ & ACL_EVENT_EXTERNAL) != 0; }
  // Whether the newest record is part of a capture that goes on.
  bool IsCaptured() const { return OpenMark().capture != nullptr; }

  // Moves the mark to the end of the stream. 107031: captured, and this is a default stream.
  Status Record(Stream* stream);
  // Makes later work of the stream wait for the newest mark; no mark: nothing. If that is part of a
  // capture the stream joins it. 107024: the stream is captured, the mark is not. 107031: as above.
  Status EnqueueWait(Stream* stream);
  // In stream order, the event becomes one that was never recorded.
  Status Reset(Stream* stream);
  // The newest mark; nullptr if it was never recorded.
  std::shared_ptr<const EventMark> newest() const;

 private:
  struct CapturedMark {
    std::shared_ptr<Capture> capture;  // nullptr: none
    size_t node = 0;
  };

  CapturedMark OpenMark() const;
  Status RecordInCapture(Capture* capture, Stream* stream);
  Status WaitInCapture(Capture* capture, Stream* stream);
  void Set(bool value);
  bool IsSet() const;

  const aclrtContext context_;
  const EventStyle style_;
  const uint32_t flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<EventMark> newest_;
  std::weak_ptr<Capture> capture_;  // of the newest record, if it was captured
  size_t captured_node_ = 0;
  bool set_ = false;  // a record has run since the last reset
};

HandleTable<Event>& Events();

}  // namespace sfmla
