// SPDX-License-Identifier: Apache-2.0
// aclTensor: the live object behind the handle, and the copy of it that operators work with.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_base_rt.h"
#include "aclnn/acl_meta.h"
#include "base/status.h"
#include "runtime/handle_table.h"

namespace sfmla {

// The live object. Everything but `data` is fixed between aclCreateTensor and aclInitTensor.
struct Tensor {
  std::vector<int64_t> view_dims;
  std::vector<int64_t> view_strides;  // elements
  std::vector<int64_t> storage_dims;
  int64_t view_offset = 0;  // elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::atomic<void*> data{nullptr};
};

// Operators of this family have at most 4 axes; a larger rank is kept as a number only.
inline constexpr int kMaxOperandRank = 8;

// By-value snapshot of a tensor taken in phase one.
struct TensorDesc {
  int64_t rank = 0;  // may exceed kMaxOperandRank; then dims and strides hold the first ones
  std::array<int64_t, kMaxOperandRank> dims{};
  std::array<int64_t, kMaxOperandRank> strides{};  // elements
  int64_t offset = 0;                              // elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  void* data = nullptr;

  // Product of dims (of the first kMaxOperandRank ones); 1 for rank 0; INT64_MAX if it is larger.
  int64_t num_elements() const;
};

HandleTable<Tensor>& Tensors();

// nullptr if `handle` is NULL, destroyed, or not a tensor.
std::shared_ptr<Tensor> FindTensor(const aclTensor* handle);
TensorDesc Describe(const Tensor& tensor);

// Element `index` of a list, which may be NULL. 561103: list NULL; 161002: not a live list, no such
// element.
Result<aclTensor*> ElementOf(const aclTensorList* list, size_t index);

// "FLOAT", "FLOAT16", "BFLOAT16", "INT32", ...; the number for one without a name. The number stays
// readable until the thread has asked for a few more.
const char* DataTypeName(aclDataType dtype);
// Bytes per element; 0 for types whose elements are not whole bytes.
int64_t DataTypeBytes(aclDataType dtype);
// What aclDataTypeSize answers, which differs for types below one byte and unknown numbers.
size_t PlatformElementSize(aclDataType dtype);

}  // namespace sfmla
