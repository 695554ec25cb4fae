// SPDX-License-Identifier: Apache-2.0
// Stub: aclTensor and the types around it, common_types of CANN's aclnn manual.
#pragma once

#include <vector>

#include "aclnn/aclnn_base.h"
#include "exe_graph/runtime/shape.h"
#include "graph/types.h"

namespace op {

using Shape = gert::Shape;
using DataType = ge::DataType;
using Format = ge::Format;
template <typename T>
using FVector = std::vector<T>;
using Strides = FVector<int64_t>;

}  // namespace op

struct aclTensor {
  op::Shape GetViewShape() const;
  op::Strides GetViewStrides() const;
  int64_t GetViewOffset() const;
  op::DataType GetDataType() const;
  op::Format GetStorageFormat() const;
  bool IsEmpty() const;
};
