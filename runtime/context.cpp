// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/capture.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/fork_order.h"
#include "runtime/refusals.h"
#include "runtime/report_queue.h"

namespace sfmla {
namespace {

// A handle, not a pointer to the context: it may be destroyed by any thread at any time.
thread_local aclrtContext t_current = nullptr;

constexpr int32_t kNoDevice = -1;
std::atomic<int32_t> g_default_device{kNoDevice};

struct DeviceState {
  int64_t set_count = 0;
  std::shared_ptr<Context> primary;
};

auto& g_contexts = *new HandleTable<Context>(HandleKind::kContext);

void GiveDefaultStream(Context* context) {
  context->default_stream =
      Streams().Insert(std::make_shared<Stream>(context->handle, /*is_default=*/true));
}

// In a forked child, where all streams ended.
void GiveDefaultStreams() {
  for (const auto& context : g_contexts.Select([](const Context&) { return true; })) {
    GiveDefaultStream(context.get());
  }
}

// Guards the states and the creation and end of contexts.
struct Devices {
  ForkMutex mutex{fork_order::kDevices, &GiveDefaultStreams};
  std::array<DeviceState, kDeviceCount> states;
};

auto& g_devices = *new Devices;

std::shared_ptr<Context> NewContext(int32_t device, bool is_primary) {
  auto context = std::make_shared<Context>();
  context->device = device;
  context->is_primary = is_primary;
  context->handle = g_contexts.Insert(context);
  GiveDefaultStream(context.get());
  return context;
}

bool Contains(const std::vector<std::shared_ptr<Context>>& contexts, aclrtContext handle) {
  return std::any_of(contexts.begin(), contexts.end(),
                     [&](const auto& context) { return context->handle == handle; });
}

Status RefuseOwnWorker(const std::vector<std::shared_ptr<Context>>& contexts) {
  const auto running = Streams().Select([&](const Stream& stream) {
    return stream.RunsOnThisThread() && Contains(contexts, stream.context());
  });
  if (running.empty()) return Status::Ok();
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                "context: called by work of one of its streams, which would wait for itself");
}

// Ends the handles of contexts that are out of the table, then waits for their work.
void Retire(const std::vector<std::shared_ptr<Context>>& contexts) {
  const auto streams = Streams().RemoveIf(
      [&](const Stream& stream) { return Contains(contexts, stream.context()); });
  (void)Events().RemoveIf([&](const Event& event) { return Contains(contexts, event.context()); });
  for (const auto& stream : streams) {
    DropCapture(*stream);
    EndReports(stream.get());
    stream->Close(Stream::Rest::kRun);
  }
  for (const auto& stream : streams) stream->WaitUntil(stream->End(), Deadline());
}

Status NoContext() {
  if (t_current == nullptr) {
    return Status(ACL_ERROR_RT_CONTEXT_NULL,
                  "context: this thread has none, call aclrtSetDevice or aclrtSetCurrentContext");
  }
  return Status(ACL_ERROR_RT_CONTEXT_NULL,
                "context: the current one was destroyed, call aclrtSetDevice or "
                "aclrtSetCurrentContext");
}

Status RequireSettings() { return ProcessSettings().status(); }

std::vector<std::shared_ptr<Context>> ContextsOf(int32_t device) {
  std::lock_guard lock(g_devices.mutex);
  return g_contexts.Select([&](const Context& context) { return context.device == device; });
}

std::vector<std::shared_ptr<Stream>> StreamsOf(const std::vector<std::shared_ptr<Context>>& of) {
  auto streams =
      Streams().Select([&](const Stream& stream) { return Contains(of, stream.context()); });
  std::sort(streams.begin(), streams.end(),
            [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return streams;
}

}  // namespace

Result<std::shared_ptr<Context>> CurrentContext() {
  if (t_current == nullptr) {
    const int32_t device = g_default_device.load();
    if (device == kNoDevice) return NoContext();
    SFMLA_RETURN_IF_ERROR(SetDevice(device));
  }
  std::shared_ptr<Context> context = g_contexts.Find(t_current);
  if (context == nullptr) return NoContext();
  return context;
}

Status SetCurrentContext(aclrtContext context) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("context", context));
  if (g_contexts.Find(context) == nullptr) {
    return DeadHandle(ACL_ERROR_RT_CONTEXT_NULL, "context", HandleKind::kContext, context);
  }
  t_current = context;
  return Status::Ok();
}

void SetDefaultDevice(std::optional<int32_t> device) {
  g_default_device.store(device.value_or(kNoDevice));
}

Status SetDevice(int32_t device) {
  SFMLA_RETURN_IF_ERROR(RequireSettings());
  SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", device));
  std::lock_guard lock(g_devices.mutex);
  DeviceState& state = g_devices.states[static_cast<size_t>(device)];
  if (state.primary == nullptr) state.primary = NewContext(device, /*is_primary=*/true);
  ++state.set_count;
  t_current = state.primary->handle;
  return Status::Ok();
}

Status ResetDevice(int32_t device, ResetCount count) {
  SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", device));
  const auto is_here = [&](const Context& context) { return context.device == device; };
  std::vector<std::shared_ptr<Context>> ended;
  {
    std::lock_guard lock(g_devices.mutex);
    DeviceState& state = g_devices.states[static_cast<size_t>(device)];
    if (state.set_count == 0) {
      return Status(ACL_ERROR_RT_CONTEXT_NULL,
                    Str("deviceId: ", device,
                        ": the context of this device is not in use, call aclrtSetDevice first"));
    }
    if (count == ResetCount::kOne && state.set_count > 1) {
      --state.set_count;
      return Status::Ok();
    }
    SFMLA_RETURN_IF_ERROR(RefuseOwnWorker(g_contexts.Select(is_here)));
    state = DeviceState();
    ended = g_contexts.RemoveIf(is_here);
  }
  ClearCoreLimits(device);
  Retire(ended);
  return Status::Ok();
}

Result<aclrtContext> CreateContext(int32_t device) {
  SFMLA_RETURN_IF_ERROR(RequireSettings());
  SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", device));
  std::lock_guard lock(g_devices.mutex);
  t_current = NewContext(device, /*is_primary=*/false)->handle;
  return t_current;
}

Status DestroyContext(aclrtContext context) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("context", context));
  std::shared_ptr<Context> ended;
  {
    std::lock_guard lock(g_devices.mutex);
    ended = g_contexts.Find(context);
    if (ended == nullptr) {
      return DeadHandle(ACL_ERROR_RT_CONTEXT_NULL, "context", HandleKind::kContext, context);
    }
    if (ended->is_primary) {
      return Status(ACL_ERROR_RT_CONTEXT_NULL,
                    "context: the primary one of its device, must be ended with aclrtResetDevice");
    }
    SFMLA_RETURN_IF_ERROR(RefuseOwnWorker({ended}));
    g_contexts.Remove(context);
  }
  Retire({ended});
  return Status::Ok();
}

aclrtStream CreateStream(const Context& context) {
  return Streams().Insert(std::make_shared<Stream>(context.handle, /*is_default=*/false));
}

Result<std::shared_ptr<Stream>> ResolveStream(aclrtStream stream) {
  if (stream == nullptr) {
    Result<std::shared_ptr<Context>> context = CurrentContext();
    if (!context.ok()) return context.status();
    stream = context.value()->default_stream;
  }
  std::shared_ptr<Stream> found = Streams().Find(stream);
  if (found == nullptr) {
    return DeadHandle(ACL_ERROR_RT_PARAM_INVALID, "stream", HandleKind::kStream, stream);
  }
  return found;
}

Result<std::shared_ptr<Stream>> ResolveOwnStream(aclrtStream stream) {
  Result<std::shared_ptr<Context>> context = CurrentContext();
  if (!context.ok()) return context.status();
  Result<std::shared_ptr<Stream>> found = ResolveStream(stream);
  if (found.ok() && found.value()->context() != context.value()->handle) {
    return Status(ACL_ERROR_RT_STREAM_CONTEXT,
                  "stream: belongs to another context, must belong to the current context");
  }
  return found;
}

Status SynchronizeCurrentDevice(const Deadline& deadline) {
  const Result<std::shared_ptr<Context>> current = CurrentContext();
  if (!current.ok()) return current.status();
  SFMLA_RETURN_IF_ERROR(RefuseIfAnyCaptured(current.value()->handle));
  const auto contexts = ContextsOf(current.value()->device);
  SFMLA_RETURN_IF_ERROR(RefuseOwnWorker(contexts));
  const auto streams = StreamsOf(contexts);
  for (const auto& stream : streams) {
    if (!stream->WaitUntil(stream->End(), deadline)) {
      return Status(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                    "device: its work was not done within the timeout and goes on");
    }
  }
  int32_t first_code = ACL_SUCCESS;
  std::string sentences;
  for (const auto& stream : streams) {
    if (stream->context() != current.value()->handle) continue;
    const Status error = stream->TakeError();
    if (error.ok()) continue;
    if (first_code == ACL_SUCCESS) first_code = error.code();
    sentences += Str(sentences.empty() ? "" : "; ", error.text());
  }
  return first_code == ACL_SUCCESS ? Status::Ok() : Status(first_code, sentences);
}

}  // namespace sfmla
