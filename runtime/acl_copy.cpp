// SPDX-License-Identifier: Apache-2.0
// C functions: copies and fills.
#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/copy.h"
#include "runtime/refusals.h"

using namespace sfmla;

namespace {

// The arguments of a batch call.
struct Batch {
  void** dsts;
  size_t* dst_bytes;
  void** srcs;
  size_t* bytes;
  size_t count;
  const aclrtMemcpyBatchAttr* attributes;
  const size_t* attribute_begins;
  size_t num_attributes;
  size_t* fail_index;
};

Status CheckAttributes(const Batch& batch) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("attrs", batch.attributes));
  SFMLA_RETURN_IF_ERROR(RequirePointer("attrsIndexes", batch.attribute_begins));
  if (batch.num_attributes == 0 || batch.num_attributes > batch.count) {
    return Status(ACL_ERROR_INVALID_PARAM, Str("numAttrs: ", batch.num_attributes,
                                               ", must be from 1 to numBatches, ", batch.count));
  }
  for (size_t i = 0; i < batch.num_attributes; ++i) {
    const size_t begin = batch.attribute_begins[i];
    const bool ascends = i == 0 ? begin == 0 : begin > batch.attribute_begins[i - 1];
    if (ascends && begin < batch.count) continue;
    return Status(ACL_ERROR_INVALID_PARAM,
                  Str("attrsIndexes[", i, "]: ", begin,
                      ", must begin with 0, ascend and stay below numBatches"));
  }
  return Status::Ok();
}

// Calls `run` on every copy, after all of them were checked.
template <typename Run>
Status RunBatch(const Batch& batch, const Run& run) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("failIndex", batch.fail_index));
  *batch.fail_index = SIZE_MAX;
  SFMLA_RETURN_IF_ERROR(RequirePointer("dsts", batch.dsts));
  SFMLA_RETURN_IF_ERROR(RequirePointer("destMaxs", batch.dst_bytes));
  SFMLA_RETURN_IF_ERROR(RequirePointer("srcs", batch.srcs));
  SFMLA_RETURN_IF_ERROR(RequirePointer("sizes", batch.bytes));
  SFMLA_RETURN_IF_ERROR(CheckAttributes(batch));
  const auto copy_at = [&](size_t i) {
    return Copy{batch.dsts[i], batch.dst_bytes[i], batch.srcs[i], batch.bytes[i]};
  };
  for (size_t i = 0; i < batch.count; ++i) {
    const Status status = CheckCopy(copy_at(i));
    if (status.ok()) continue;
    *batch.fail_index = i;
    return Status(status.code(), Str("entry ", i, ": ", status.text()));
  }
  for (size_t i = 0; i < batch.count; ++i) SFMLA_RETURN_IF_ERROR(run(copy_at(i)));
  return Status::Ok();
}

}  // namespace

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return AclCall("aclrtMemcpy", [&] {
    if (count == 0) return Status::Ok();
    const Copy copy{dst, destMax, src, count, kind};
    SFMLA_RETURN_IF_ERROR(CheckCopy(copy));
    const Result<std::shared_ptr<Context>> context = CurrentContext();
    return context.ok() ? CopyNow(copy, context.value()->handle) : context.status();
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return AclCall("aclrtMemcpyAsync", [&]() -> Status {
    if (count == 0) return Status::Ok();
    const Copy copy{dst, destMax, src, count, kind};
    SFMLA_RETURN_IF_ERROR(CheckCopy(copy));
    if (kind == ACL_MEMCPY_HOST_TO_HOST) {
      return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "kind: ACL_MEMCPY_HOST_TO_HOST, must involve the device");
    }
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    return found.ok() ? CopyInOrder(copy, found.value().get()) : found.status();
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return AclCall("aclrtMemset", [&] {
    if (count == 0) return Status::Ok();
    const Fill fill{devPtr, maxCount, value, count};
    SFMLA_RETURN_IF_ERROR(CheckFill(fill));
    const Result<std::shared_ptr<Context>> context = CurrentContext();
    return context.ok() ? FillNow(fill, context.value()->handle) : context.status();
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return AclCall("aclrtMemsetAsync", [&] {
    if (count == 0) return Status::Ok();
    const Fill fill{devPtr, maxCount, value, count};
    SFMLA_RETURN_IF_ERROR(CheckFill(fill));
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    return found.ok() ? FillInOrder(fill, found.value().get()) : found.status();
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
  return AclCall("aclrtMemcpyBatch", [&] {
    const Result<std::shared_ptr<Context>> context = CurrentContext();
    if (!context.ok()) return context.status();
    return RunBatch(
        {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex},
        [&](const Copy& copy) { return CopyNow(copy, context.value()->handle); });
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return AclCall("aclrtMemcpyBatchAsync", [&] {
    const Result<std::shared_ptr<Stream>> found = ResolveOwnStream(stream);
    if (!found.ok()) return found.status();
    return RunBatch(
        {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex},
        [&](const Copy& copy) { return CopyInOrder(copy, found.value().get()); });
  });
}
