// SPDX-License-Identifier: Apache-2.0
// C functions: events.
#include "runtime/event.h"

#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/refusals.h"

using namespace sfmla;

namespace {

constexpr uint32_t kPlainEventFlags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;

Status CheckFlags(uint32_t flags) {
  constexpr uint32_t kKnown = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                              ACL_EVENT_TIME_LINE | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL |
                              ACL_EVENT_IPC;
  if (flags == 0 || (flags & ~kKnown) != 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("flag: ", flags, ", must be ACL_EVENT_... combined, at least one"));
  }
  if ((flags & ACL_EVENT_IPC) != 0) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "flag: ACL_EVENT_IPC, events are not shared between processes here");
  }
  return Status::Ok();
}

Status Create(aclrtEvent* event, EventStyle style, uint32_t flags) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("event", event));
  SFMLA_RETURN_IF_ERROR(CheckFlags(flags));
  const Result<std::shared_ptr<Context>> current = CurrentContext();
  if (!current.ok()) return current.status();
  *event = Events().Insert(std::make_shared<Event>(current.value()->handle, style, flags));
  return Status::Ok();
}

Result<std::shared_ptr<Event>> Resolve(const char* name, aclrtEvent event) {
  SFMLA_RETURN_IF_ERROR(RequirePointer(name, event));
  std::shared_ptr<Event> found = Events().Find(event);
  if (found == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, name, HandleKind::kEvent, event);
  }
  return found;
}

struct EventAndStream {
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
};

// Both of the current context.
Result<EventAndStream> ResolveOwn(aclrtEvent event, aclrtStream stream) {
  Result<std::shared_ptr<Event>> found_event = Resolve("event", event);
  if (!found_event.ok()) return found_event.status();
  Result<std::shared_ptr<Stream>> found_stream = ResolveOwnStream(stream);
  if (!found_stream.ok()) return found_stream.status();
  if (found_event.value()->context() != found_stream.value()->context()) {
    return Status(ACL_ERROR_RT_STREAM_CONTEXT,
                  "event: belongs to another context, must belong to the current context");
  }
  return EventAndStream{found_event.value(), found_stream.value()};
}

// What the host may ask depends on records that are made now, not in each replay of a graph.
Status RequireOrdinary(const char* name, const Event& event) {
  if (event.is_external()) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  Str(name, ": an ACL_EVENT_EXTERNAL event, the host cannot wait for or time it"));
  }
  if (!event.IsCaptured()) return Status::Ok();
  return Status(ACL_ERROR_RT_EVENT_CAPTURED,
                Str(name, ": its record is part of a capture that goes on"));
}

Status Wait(aclrtEvent event, const Deadline& deadline) {
  const Result<std::shared_ptr<Event>> found = Resolve("event", event);
  if (!found.ok()) return found.status();
  SFMLA_RETURN_IF_ERROR(RequireOrdinary("event", *found.value()));
  const std::shared_ptr<const EventMark> mark = found.value()->newest();
  if (mark == nullptr || mark->reached()) return Status::Ok();
  const std::shared_ptr<Stream> stream = mark->stream();
  if (stream != nullptr && stream->RunsOnThisThread()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "event: recorded behind the work that waits for it, which would never end");
  }
  if (mark->Wait(deadline)) return Status::Ok();
  return Status(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                "event: not reached within the timeout, the work goes on");
}

Result<std::chrono::steady_clock::time_point> TimeOf(const char* name, aclrtEvent event) {
  const Result<std::shared_ptr<Event>> found = Resolve(name, event);
  if (!found.ok()) return found.status();
  SFMLA_RETURN_IF_ERROR(RequireOrdinary(name, *found.value()));
  const std::shared_ptr<const EventMark> mark = found.value()->newest();
  if (mark == nullptr) {
    return Status(ACL_ERROR_RT_INTERNAL_ERROR,
                  Str(name, ": the event was never recorded, call aclrtRecordEvent"));
  }
  if (!found.value()->takes_time_stamps()) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                  Str(name,
                      ": the event takes no time stamps, create it with "
                      "ACL_EVENT_TIME_LINE"));
  }
  const auto reached = mark->reached();
  if (!reached) {
    return Status(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                  Str(name, ": the event is not reached yet, call aclrtSynchronizeEvent"));
  }
  return *reached;
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
  return AclCall("aclrtCreateEvent",
                 [&] { return Create(event, EventStyle::kPlain, kPlainEventFlags); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return AclCall("aclrtCreateEventWithFlag",
                 [&] { return Create(event, EventStyle::kPlain, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return AclCall("aclrtCreateEventExWithFlag",
                 [&] { return Create(event, EventStyle::kEx, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return AclCall("aclrtDestroyEvent", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("event", event));
    if (Events().Remove(event) != nullptr) return Status::Ok();
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "event", HandleKind::kEvent, event);
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return AclCall("aclrtRecordEvent", [&] {
    const Result<EventAndStream> own = ResolveOwn(event, stream);
    return own.ok() ? own.value().event->Record(own.value().stream.get()) : own.status();
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return AclCall("aclrtStreamWaitEvent", [&] {
    const Result<EventAndStream> own = ResolveOwn(event, stream);
    return own.ok() ? own.value().event->EnqueueWait(own.value().stream.get()) : own.status();
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return AclCall("aclrtResetEvent", [&]() -> Status {
    const Result<EventAndStream> own = ResolveOwn(event, stream);
    if (!own.ok()) return own.status();
    if (own.value().event->style() == EventStyle::kEx && !own.value().event->is_external()) {
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "event: made with aclrtCreateEventExWithFlag, which needs no reset");
    }
    return own.value().event->Reset(own.value().stream.get());
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return AclCall("aclrtSynchronizeEvent", [&] { return Wait(event, Deadline()); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return AclCall("aclrtSynchronizeEventWithTimeout", [&] {
    const Result<Deadline> deadline = DeadlineAfter(timeout);
    return deadline.ok() ? Wait(event, deadline.value()) : deadline.status();
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return AclCall("aclrtQueryEventStatus", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("status", status));
    const Result<std::shared_ptr<Event>> found = Resolve("event", event);
    if (!found.ok()) return found.status();
    SFMLA_RETURN_IF_ERROR(RequireOrdinary("event", *found.value()));
    const std::shared_ptr<const EventMark> mark = found.value()->newest();
    const bool complete =
        mark == nullptr ? found.value()->style() == EventStyle::kEx : mark->reached().has_value();
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return Status::Ok();
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return AclCall("aclrtEventElapsedTime", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("ms", ms));
    const auto start = TimeOf("startEvent", startEvent);
    if (!start.ok()) return start.status();
    const auto end = TimeOf("endEvent", endEvent);
    if (!end.ok()) return end.status();
    *ms = std::chrono::duration<float, std::milli>(end.value() - start.value()).count();
    return Status::Ok();
  });
}
