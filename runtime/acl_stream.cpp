// SPDX-License-Identifier: Apache-2.0
// C functions: streams.
#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/refusals.h"
#include "runtime/report_queue.h"

using namespace sfmla;

namespace {

constexpr uint32_t kLowestPriority = 7;

Status CreateInCurrentContext(aclrtStream* stream) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("stream", stream));
  const Result<std::shared_ptr<Context>> current = CurrentContext();
  if (current.ok()) *stream = CreateStream(*current.value());
  return current.status();
}

Status Destroy(aclrtStream handle, Stream::Rest rest) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("stream", handle));
  const Result<std::shared_ptr<Stream>> stream = ResolveOwnStream(handle);
  if (!stream.ok()) return stream.status();
  if (stream.value()->is_default()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream: the default stream of its context, which ends with the context");
  }
  SFMLA_RETURN_IF_ERROR(RefuseIfCaptured(*stream.value(), "destroy it"));
  if (rest == Stream::Rest::kRun && stream.value()->RunsOnThisThread()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream: called by work of this very stream, which would wait for itself");
  }
  if (Streams().Remove(handle) == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "stream", HandleKind::kStream, handle);
  }
  EndReports(stream.value().get());
  stream.value()->Close(rest);
  if (rest == Stream::Rest::kRun) stream.value()->WaitUntil(stream.value()->End(), Deadline());
  return Status::Ok();
}

Status Wait(aclrtStream handle, const Deadline& deadline) {
  const Result<std::shared_ptr<Stream>> stream = ResolveStream(handle);
  if (!stream.ok()) return stream.status();
  SFMLA_RETURN_IF_ERROR(RefuseIfCaptured(*stream.value(), "wait for it"));
  return Synchronize(stream.value().get(), deadline);
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return AclCall("aclrtCreateStream", [&] { return CreateInCurrentContext(stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return AclCall("aclrtCreateStreamWithConfig", [&]() -> Status {
    constexpr uint32_t kKnown = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC |
                                ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE |
                                ACL_STREAM_DEVICE_USE_ONLY;
    if (priority > kLowestPriority) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Str("priority: ", priority, ", must be in [0, ", kLowestPriority, "]"));
    }
    if ((flag & ~kKnown) != 0) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    Str("flag: ", flag, ", must be 0 or ACL_STREAM_... combined"));
    }
    return CreateInCurrentContext(stream);
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return AclCall("aclrtDestroyStream", [&] { return Destroy(stream, Stream::Rest::kRun); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return AclCall("aclrtDestroyStreamForce", [&] { return Destroy(stream, Stream::Rest::kDrop); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return AclCall("aclrtSynchronizeStream", [&] { return Wait(stream, Deadline()); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return AclCall("aclrtSynchronizeStreamWithTimeout", [&] {
    const Result<Deadline> deadline = DeadlineAfter(timeout);
    return deadline.ok() ? Wait(stream, deadline.value()) : deadline.status();
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return AclCall("aclrtStreamQuery", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("status", status));
    const Result<std::shared_ptr<Stream>> found = ResolveStream(stream);
    if (!found.ok()) return found.status();
    SFMLA_RETURN_IF_ERROR(RefuseIfCaptured(*found.value(), "ask whether it is done"));
    *status = found.value()->IsDone(found.value()->End()) ? ACL_STREAM_STATUS_COMPLETE
                                                          : ACL_STREAM_STATUS_NOT_READY;
    return Status::Ok();
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return AclCall("aclrtSetStreamFailureMode", [&]() -> Status {
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
      return Status(ACL_ERROR_RT_PARAM_INVALID, Str("mode: ", mode,
                                                    ", must be ACL_CONTINUE_ON_FAILURE or "
                                                    "ACL_STOP_ON_FAILURE"));
    }
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (found.ok()) found.value()->SetStopOnFailure(mode == ACL_STOP_ON_FAILURE);
    return found.status();
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return AclCall("aclrtLaunchHostFunc", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("fn", reinterpret_cast<const void*>(fn)));
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    SFMLA_RETURN_IF_ERROR(found.value()->UseHostFunctions());
    Task task;
    task.name = "aclrtLaunchHostFunc";
    task.run = [fn, args] {
      fn(args);
      return Status::Ok();
    };
    return found.value()->Submit(std::move(task)).status();
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return AclCall("aclrtLaunchCallback", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("fn", reinterpret_cast<const void*>(fn)));
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    return LaunchCallback(found.value().get(), fn, userData, blockType);
  });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return AclCall("aclrtSubscribeReport", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    return found.ok() ? SubscribeReport(threadId, found.value().get()) : found.status();
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return AclCall("aclrtUnSubscribeReport", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    return found.ok() ? UnsubscribeReport(threadId, found.value().get()) : found.status();
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return AclCall("aclrtProcessReport", [&] {
    const Result<Deadline> deadline = DeadlineAfter(timeout);
    return deadline.ok() ? ProcessReport(deadline.value()) : deadline.status();
  });
}
