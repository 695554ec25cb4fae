// SPDX-License-Identifier: Apache-2.0
// C functions: start, end, error text.
#include <mutex>

#include "acl/acl_rt.h"
#include "base/format.h"
#include "base/settings.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/init_config.h"
#include "runtime/last_error.h"

using namespace sfmla;

namespace {

struct InitState {
  std::mutex mutex;
  uint64_t references = 0;
  bool was_finalized = false;  // since the last aclInit
  InitConfig config;
};

InitState& State() {
  static auto* state = new InitState;
  return *state;
}

Status Initialize(const char* path) {
  SFMLA_RETURN_IF_ERROR(ProcessSettings().status());
  const Result<InitConfig> config = ReadInitConfig(path);
  if (!config.ok()) return config.status();
  InitState& state = State();
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

void FinalizeLocked(InitState* state) {
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
    std::lock_guard lock(State().mutex);
    if (State().was_finalized) return AlreadyFinalized();
    if (State().references > 0) FinalizeLocked(&State());
    return Status::Ok();
  });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return AclCall("aclFinalizeReference", [&]() -> Status {
    std::lock_guard lock(State().mutex);
    if (State().references == 0) return AlreadyFinalized();
    const uint64_t left = State().references - 1;
    if (left == 0) FinalizeLocked(&State());
    State().references = left;
    if (refCount != nullptr) *refCount = left;
    return Status::Ok();
  });
}

const char* aclGetRecentErrMsg() { return TakeReports(); }
