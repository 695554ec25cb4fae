// SPDX-License-Identifier: Apache-2.0
// C functions: data buffers.
#include <atomic>

#include "acl/acl_base_rt.h"
#include "runtime/api_guard.h"
#include "runtime/refusals.h"

using namespace sfmla;

namespace {

struct DataBuffer {
  std::atomic<void*> data{nullptr};
  std::atomic<size_t> bytes{0};
};

auto& g_data_buffers = *new HandleTable<DataBuffer>(HandleKind::kDataBuffer);

Result<std::shared_ptr<DataBuffer>> Resolve(const aclDataBuffer* handle) {
  SFMLA_RETURN_IF_ERROR(RequirePointer("dataBuffer", handle));
  std::shared_ptr<DataBuffer> found = g_data_buffers.Find(handle);
  if (found == nullptr) {
    return DeadHandle(ACL_ERROR_INVALID_PARAM, "dataBuffer", HandleKind::kDataBuffer, handle);
  }
  return found;
}

size_t BytesOf(const char* api, const aclDataBuffer* handle) {
  size_t bytes = 0;
  AclCall(api, [&] {
    const Result<std::shared_ptr<DataBuffer>> found = Resolve(handle);
    if (found.ok()) bytes = found.value()->bytes;
    return found.status();
  });
  return bytes;
}

}  // namespace

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* out = nullptr;
  AclCall("aclCreateDataBuffer", [&] {
    auto buffer = std::make_shared<DataBuffer>();
    buffer->data = data;
    buffer->bytes = size;
    out = static_cast<aclDataBuffer*>(g_data_buffers.Insert(std::move(buffer)));
    return Status::Ok();
  });
  return out;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return AclCall("aclDestroyDataBuffer", [&] {
    const Result<std::shared_ptr<DataBuffer>> found = Resolve(dataBuffer);
    if (found.ok()) g_data_buffers.Remove(dataBuffer);
    return found.status();
  });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return AclCall("aclUpdateDataBuffer", [&] {
    const Result<std::shared_ptr<DataBuffer>> found = Resolve(dataBuffer);
    if (!found.ok()) return found.status();
    found.value()->data = data;
    found.value()->bytes = size;
    return Status::Ok();
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  void* data = nullptr;
  AclCall("aclGetDataBufferAddr", [&] {
    const Result<std::shared_ptr<DataBuffer>> found = Resolve(dataBuffer);
    if (found.ok()) data = found.value()->data;
    return found.status();
  });
  return data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return BytesOf("aclGetDataBufferSizeV2", dataBuffer);
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(BytesOf("aclGetDataBufferSize", dataBuffer));
}
