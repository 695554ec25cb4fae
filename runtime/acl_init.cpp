// SPDX-License-Identifier: Apache-2.0
// C functions: start, end, error text.
#include <mutex>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "base/fork.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/allocator.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/event.h"
#include "runtime/executor.h"
#include "runtime/fork_order.h"
#include "runtime/graph.h"
#include "runtime/init_config.h"
#include "runtime/last_error.h"
#include "runtime/log.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

struct InitState {
  ForkMutex mutex{fork_order::kInit};
  uint64_t references = 0;
  bool was_finalized = false;  // since the last aclInit
  InitConfig config;
};

auto& g_state = *new InitState;

Status Initialize(const char* path) {
  SFMLA_RETURN_IF_ERROR(ProcessSettings().status());
  const Result<InitConfig> config = ReadInitConfig(path);
  if (!config.ok()) return config.status();
  InitState& state = g_state;
  std::lock_guard lock(state.mutex);
  if (state.references > 0) {
    if (config.value() != state.config) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    "configPath: differs from the configuration of the first aclInit");
    }
    ++state.references;
    return Status(ACL_ERROR_REPEAT_INITIALIZE,
                  Str("repeated initialisation: aclInit was called before, this is call ",
                      state.references, "; nothing changes"));
  }
  state.references = 1;
  state.was_finalized = false;
  state.config = config.value();
  SetDefaultDevice(state.config.default_device);
  ShareReportsBetweenThreads(state.config.shared_error_text);
  return Status::Ok();
}

Status AlreadyFinalized() {
  return Status(ACL_ERROR_REPEAT_FINALIZE, "repeated finalize: no aclInit is left to take back");
}

// Clients that leave things alive are common, so this is a line for those who ask for it.
void LogWhatIsAlive() {
  const MemoryUse memory = DeviceMemoryUse();
  const size_t streams = Streams().Select([](const Stream& it) { return !it.is_default(); }).size();
  const std::pair<const char*, size_t> counts[] = {
      {"tensors", Tensors().Count()}, {"executors", LiveExecutors()},
      {"streams", streams},           {"events", Events().Count()},
      {"graphs", Graphs().Count()},   {"device allocations", memory.allocations},
      {"device bytes", memory.bytes},
  };
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count > 0) text += Str(text.empty() ? "" : ", ", name, " ", count);
  }
  if (!text.empty()) Log(ACL_WARNING, Str("still alive at aclFinalize: ", text));
}

void FinalizeLocked(InitState* state) {
  LogWhatIsAlive();
  state->references = 0;
  state->was_finalized = true;
  SetDefaultDevice(std::nullopt);
}

}  // namespace

aclError aclInit(const char* configPath) {
  return AclCall("aclInit", [&] { return Initialize(configPath); });
}

aclError aclFinalize() {
  return AclCall("aclFinalize", []() -> Status {
    std::lock_guard lock(g_state.mutex);
    if (g_state.was_finalized) return AlreadyFinalized();
    if (g_state.references > 0) FinalizeLocked(&g_state);
    return Status::Ok();
  });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return AclCall("aclFinalizeReference", [&]() -> Status {
    std::lock_guard lock(g_state.mutex);
    if (g_state.references == 0) return AlreadyFinalized();
    const uint64_t left = g_state.references - 1;
    if (left == 0) FinalizeLocked(&g_state);
    g_state.references = left;
    if (refCount != nullptr) *refCount = left;
    return Status::Ok();
  });
}

const char* aclGetRecentErrMsg() { return TakeReports(); }
