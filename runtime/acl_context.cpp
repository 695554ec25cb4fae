// SPDX-License-Identifier: Apache-2.0
// C functions: contexts.
#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/refusals.h"

using namespace sfmla;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return AclCall("aclrtCreateContext", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("context", context));
    Result<aclrtContext> created = CreateContext(deviceId);
    if (created.ok()) *context = created.value();
    return created.status();
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return AclCall("aclrtDestroyContext", [&] { return DestroyContext(context); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return AclCall("aclrtSetCurrentContext", [&] { return SetCurrentContext(context); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return AclCall("aclrtGetCurrentContext", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("context", context));
    const Result<std::shared_ptr<Context>> current = CurrentContext();
    if (current.ok()) *context = current.value()->handle;
    return current.status();
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return AclCall("aclrtCtxGetCurrentDefaultStream", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("stream", stream));
    const Result<std::shared_ptr<Context>> current = CurrentContext();
    if (current.ok()) *stream = current.value()->default_stream;
    return current.status();
  });
}
