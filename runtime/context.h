// SPDX-License-Identifier: Apache-2.0
// Contexts and which one is current on a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/stream.h"

namespace sfmla {

// A context is what its handle stands for: its streams and events name it as theirs and end with
// it.
struct Context {
  int32_t device = 0;
  bool is_primary = false;
  aclrtContext handle = nullptr;
  aclrtStream default_stream = nullptr;
};

// The context current on this thread. 107002: none, or it was destroyed. A thread that never set
// one gets the primary context of the default device, where aclInit named one.
Result<std::shared_ptr<Context>> CurrentContext();
Status SetCurrentContext(aclrtContext context);
void SetDefaultDevice(std::optional<int32_t> device);

// Counted use of the primary context of a device, which SetDevice also makes current.
Status SetDevice(int32_t device);
enum class ResetCount : uint8_t { kOne, kAll };
Status ResetDevice(int32_t device, ResetCount count);

// An explicit context; it becomes current.
Result<aclrtContext> CreateContext(int32_t device);
Status DestroyContext(aclrtContext context);

aclrtStream CreateStream(const Context& context);
// The stream behind a handle, of any context; nullptr is the default stream of the current one.
// 107000: not a live stream; 107002: nullptr and no current context.
Result<std::shared_ptr<Stream>> ResolveStream(aclrtStream stream);
// The same, but it must belong to the current context: 107003.
Result<std::shared_ptr<Stream>> ResolveOwnStream(aclrtStream stream);

// Waits for all streams of the current context's device. Returns the errors that streams of the
// current context kept: the code of the stream made first, the sentences of all.
Status SynchronizeCurrentDevice(const Deadline& deadline);

}  // namespace sfmla
