// SPDX-License-Identifier: Apache-2.0
// C functions: graph capture and replay.
#include <cstdio>
#include <cstring>

#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/graph.h"
#include "runtime/refusals.h"
#include "runtime/task_group.h"

using namespace sfmla;

namespace {

// A stream that must be named: NULL does not stand for the default one here.
Result<std::shared_ptr<Stream>> ResolveNamed(aclrtStream stream) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("stream", stream));
  return ResolveOwnStream(stream);
}

Result<std::shared_ptr<Capture>> CaptureOn(aclrtStream stream) {
  const Result<std::shared_ptr<Stream>> found = ResolveNamed(stream);
  if (!found.ok()) return found.status();
  if (std::shared_ptr<Capture> capture = CaptureOf(*found.value())) return capture;
  return Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                "stream: it is not captured, call aclmdlRICaptureBegin first");
}

Status GetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* graph) {
  if (status == nullptr && graph == nullptr) {
    return Status(ACL_ERROR_INVALID_PARAM, "status and modelRI: both NULL, one must not be NULL",
                  Subject::kNullArgument);
  }
  const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
  if (!found.ok()) return found.status();
  const std::shared_ptr<Capture> capture = CaptureOf(*found.value());
  if (graph != nullptr) *graph = capture == nullptr ? nullptr : capture->graph();
  if (status == nullptr) return Status::Ok();
  *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (capture != nullptr) {
    *status = capture->IsInvalidated() ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                       : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  }
  return Status::Ok();
}

Status End(aclrtStream stream, aclmdlRI* graph) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("stream", stream));
  if (graph == nullptr) return NullArgument(ACL_ERROR_RT_PARAM_INVALID, "modelRI");
  *graph = nullptr;
  const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
  if (!found.ok()) return found.status();
  const Result<aclmdlRI> ended = EndCapture(*found.value());
  if (ended.ok()) *graph = ended.value();
  return ended.status();
}

Status Execute(aclmdlRI handle, int32_t timeout) {
  const Result<std::shared_ptr<Graph>> graph = ResolveGraph(handle);
  if (!graph.ok()) return graph.status();
  const Result<Deadline> deadline = DeadlineAfter(timeout);
  if (!deadline.ok()) return deadline.status();
  const Result<std::shared_ptr<Stream>> stream = ResolveOwnStream(nullptr);
  if (!stream.ok()) return stream.status();
  SFMLA_RETURN_IF_ERROR(SubmitReplay(graph.value(), stream.value().get()).status());
  return Synchronize(stream.value().get(), deadline.value());
}

Status CopyName(const Graph& graph, uint32_t max_bytes, char* out) {
  const std::string name = graph.name();
  if (name.size() >= max_bytes) {
    return Status(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
                  Str("maxLen: ", max_bytes, ", must be at least ", name.size() + 1));
  }
  std::memcpy(out, name.c_str(), name.size() + 1);
  return Status::Ok();
}

// Calls `use` on the graph behind the handle.
template <typename Use>
aclError OnGraph(const char* api, aclmdlRI graph, const Use& use) {
  return AclCall(api, [&]() -> Status {
    const Result<std::shared_ptr<Graph>> found = ResolveGraph(graph);
    return found.ok() ? use(*found.value()) : found.status();
  });
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return AclCall("aclmdlRICaptureBegin", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveNamed(stream);
    return found.ok() ? BeginCapture(found.value().get(), mode) : found.status();
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return AclCall("aclmdlRICaptureGetInfo", [&] { return GetInfo(stream, status, modelRI); });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return AclCall("aclmdlRICaptureEnd", [&] { return End(stream, modelRI); });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return AclCall("aclmdlRICaptureThreadExchangeMode", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("mode", mode));
    const Result<aclmdlRICaptureMode> before = ExchangeThreadCaptureMode(*mode);
    if (before.ok()) *mode = before.value();
    return before.status();
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return AclCall("aclmdlRIExecuteAsync", [&]() -> Status {
    const Result<std::shared_ptr<Graph>> graph = ResolveGraph(modelRI);
    if (!graph.ok()) return graph.status();
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    return SubmitReplay(graph.value(), found.value().get()).status();
  });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return AclCall("aclmdlRIExecute", [&] { return Execute(modelRI, timeout); });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return AclCall("aclmdlRIDestroy", [&] { return DestroyGraph(modelRI); });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return AclCall("aclmdlRICaptureTaskGrpBegin", [&] {
    const Result<std::shared_ptr<Capture>> capture = CaptureOn(stream);
    return capture.ok() ? capture.value()->BeginGroup() : capture.status();
  });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return AclCall("aclmdlRICaptureTaskGrpEnd", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("handle", handle));
    const Result<std::shared_ptr<Capture>> capture = CaptureOn(stream);
    if (!capture.ok()) return capture.status();
    const Result<aclrtTaskGrp> group = capture.value()->EndGroup();
    if (group.ok()) *handle = group.value();
    return group.status();
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return AclCall("aclmdlRICaptureTaskUpdateBegin", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveNamed(stream);
    if (!found.ok()) return found.status();
    if (handle == nullptr) return NullArgument(ACL_ERROR_RT_PARAM_INVALID, "handle");
    return BeginGroupUpdate(found.value().get(), handle);
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return AclCall("aclmdlRICaptureTaskUpdateEnd", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveNamed(stream);
    return found.ok() ? EndGroupUpdate(found.value().get()) : found.status();
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return OnGraph("aclmdlRIDebugPrint", modelRI, [](const Graph& graph) {
    std::fputs(graph.Describe().c_str(), stdout);
    return Status::Ok();
  });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return OnGraph("aclmdlRIGetId", modelRI, [&](const Graph& graph) {
    SFMLA_RETURN_IF_ERROR(RequirePointer("modelRIId", modelRIId));
    *modelRIId = graph.id();
    return Status::Ok();
  });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return OnGraph("aclmdlRISetName", modelRI, [&](Graph& graph) {
    SFMLA_RETURN_IF_ERROR(RequirePointer("name", name));
    graph.SetName(name);
    return Status::Ok();
  });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return OnGraph("aclmdlRIGetName", modelRI, [&](const Graph& graph) {
    SFMLA_RETURN_IF_ERROR(RequirePointer("name", name));
    return CopyName(graph, maxLen, name);
  });
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData) {
  return OnGraph("aclmdlRIDestroyRegisterCallback", modelRI, [&](Graph& graph) {
    SFMLA_RETURN_IF_ERROR(RequirePointer("func", reinterpret_cast<const void*>(func)));
    graph.AddDestroyCallback(func, userData);
    return Status::Ok();
  });
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  return OnGraph("aclmdlRIDestroyUnregisterCallback", modelRI, [&](Graph& graph) -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("func", reinterpret_cast<const void*>(func)));
    if (graph.RemoveDestroyCallback(func)) return Status::Ok();
    return Status(ACL_ERROR_RT_PARAM_INVALID, "func: not registered for this graph");
  });
}
