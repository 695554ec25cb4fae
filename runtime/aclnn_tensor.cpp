// SPDX-License-Identifier: Apache-2.0
// C functions: tensors.
#include <algorithm>
#include <limits>

#include "aclnn/acl_meta.h"
#include "base/checked_math.h"
#include "runtime/api_guard.h"
#include "runtime/refusals.h"
#include "runtime/tensor.h"

using namespace sfmla;

namespace {

Status RequireAclnnPointer(const char* name, const void* pointer) {
  if (pointer == nullptr) return NullArgument(ACLNN_ERR_PARAM_NULLPTR, name);
  return Status::Ok();
}

Result<std::shared_ptr<Tensor>> Resolve(const aclTensor* handle) {
  SFMLA_RETURN_IF_ERROR(RequireAclnnPointer("tensor", handle));
  std::shared_ptr<Tensor> tensor = FindTensor(handle);
  if (tensor == nullptr) {
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, "tensor", HandleKind::kTensor, handle);
  }
  return tensor;
}

// Row-major strides without gaps; INT64_MAX where a product does not fit, which no operator
// accepts.
std::vector<int64_t> CanonicalStrides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride = CheckedMul(stride, dims[axis]).value_or(std::numeric_limits<int64_t>::max());
  }
  return strides;
}

Status CheckDims(const char* name, const int64_t* dims, uint64_t count) {
  constexpr uint64_t kMostDims = 1024;
  if (count > kMostDims) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Str(name, ": ", count, " dims, must be at most ", kMostDims));
  }
  if (dims != nullptr || count == 0) return Status::Ok();
  return Status(ACLNN_ERR_PARAM_NULLPTR,
                Str(name, ": NULL with ", count, " dims, must be an array of that many"));
}

std::vector<int64_t> Values(const int64_t* values, uint64_t count) {
  return count == 0 ? std::vector<int64_t>() : std::vector<int64_t>(values, values + count);
}

// Answers a getter that hands out a fresh array.
Status CopyOut(const std::vector<int64_t>& values, int64_t** out, uint64_t* count) {
  auto* copy = new int64_t[values.size()];
  std::copy(values.begin(), values.end(), copy);
  *out = copy;
  *count = values.size();
  return Status::Ok();
}

using Dims = std::vector<int64_t> Tensor::*;

aclnnStatus GetDims(const char* api, const aclTensor* tensor, Dims field, const char* values_name,
                    int64_t** values, const char* count_name, uint64_t* count) {
  return AclnnCall(api, [&] {
    SFMLA_RETURN_IF_ERROR(RequireAclnnPointer(values_name, values));
    SFMLA_RETURN_IF_ERROR(RequireAclnnPointer(count_name, count));
    const Result<std::shared_ptr<Tensor>> found = Resolve(tensor);
    return found.ok() ? CopyOut((*found.value()).*field, values, count) : found.status();
  });
}

template <typename Value, typename Read>
aclnnStatus GetValue(const char* api, const aclTensor* tensor, const char* name, Value* out,
                     const Read& read) {
  return AclnnCall(api, [&] {
    SFMLA_RETURN_IF_ERROR(RequireAclnnPointer(name, out));
    const Result<std::shared_ptr<Tensor>> found = Resolve(tensor);
    if (found.ok()) *out = read(*found.value());
    return found.status();
  });
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  aclTensor* out = nullptr;
  AclnnCall("aclCreateTensor", [&] {
    SFMLA_RETURN_IF_ERROR(CheckDims("viewDims", viewDims, viewDimsNum));
    SFMLA_RETURN_IF_ERROR(CheckDims("storageDims", storageDims, storageDimsNum));
    auto tensor = std::make_shared<Tensor>();
    tensor->view_dims = Values(viewDims, viewDimsNum);
    tensor->view_strides =
        stride == nullptr ? CanonicalStrides(tensor->view_dims) : Values(stride, viewDimsNum);
    tensor->storage_dims = Values(storageDims, storageDimsNum);
    tensor->view_offset = offset;
    tensor->dtype = dataType;
    tensor->format = format;
    tensor->data = tensorData;
    out = static_cast<aclTensor*>(Tensors().Insert(std::move(tensor)));
    return Status::Ok();
  });
  return out;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  return AclnnCall("aclInitTensor", [&] {
    const Result<std::shared_ptr<Tensor>> found = Resolve(tensor);
    if (!found.ok()) return found.status();
    Tensor& live = *found.value();
    if (viewDims != nullptr && viewDimsNum > 0) live.view_dims = Values(viewDims, viewDimsNum);
    live.view_strides = stride == nullptr ? CanonicalStrides(live.view_dims)
                                          : Values(stride, live.view_dims.size());
    if (storageDims != nullptr) live.storage_dims = Values(storageDims, storageDimsNum);
    live.view_offset = offset;
    live.dtype = dataType;
    live.format = format;
    if (tensorDataAddr != nullptr) live.data = tensorDataAddr;
    return Status::Ok();
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return AclnnCall("aclDestroyTensor", [&]() -> Status {
    if (tensor == nullptr || Tensors().Remove(tensor) != nullptr) return Status::Ok();
    return DeadHandle(ACLNN_ERR_PARAM_INVALID, "tensor", HandleKind::kTensor, tensor);
  });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return GetDims("aclGetViewShape", tensor, &Tensor::view_dims, "viewDims", viewDims, "viewDimsNum",
                 viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return GetDims("aclGetStorageShape", tensor, &Tensor::storage_dims, "storageDims", storageDims,
                 "storageDimsNum", storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return GetDims("aclGetViewStrides", tensor, &Tensor::view_strides, "stridesValue", stridesValue,
                 "stridesNum", stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return GetValue("aclGetViewOffset", tensor, "offset", offset,
                  [](const Tensor& live) { return live.view_offset; });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return GetValue("aclGetFormat", tensor, "format", format,
                  [](const Tensor& live) { return live.format; });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return GetValue("aclGetDataType", tensor, "dataType", dataType,
                  [](const Tensor& live) { return live.dtype; });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return GetValue("aclGetRawTensorAddr", tensor, "addr", addr,
                  [](const Tensor& live) { return live.data.load(); });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return AclnnCall("aclSetRawTensorAddr", [&] {
    const Result<std::shared_ptr<Tensor>> found = Resolve(tensor);
    if (found.ok()) found.value()->data = addr;
    return found.status();
  });
}
