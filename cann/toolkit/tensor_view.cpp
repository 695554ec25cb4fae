// SPDX-License-Identifier: Apache-2.0
#include "cann/toolkit/tensor_view.h"

#include "aclnn_kernels/contiguous.h"
#include "cann/toolkit/shapes.h"

namespace sfmla::cann {

OperandView ViewOf(const aclTensor* tensor) {
  OperandView out;
  if (tensor == nullptr) return out;
  out.given = true;
  out.data_type = static_cast<int32_t>(tensor->GetDataType());
  out.format = static_cast<int32_t>(tensor->GetStorageFormat());
  out.dims = DimsOf(tensor->GetViewShape());
  const op::Strides strides = tensor->GetViewStrides();
  out.strides.assign(strides.begin(), strides.end());
  out.offset = tensor->GetViewOffset();
  return out;
}

const aclTensor* KernelOperand(const aclTensor* tensor, bool contiguous, aclOpExecutor* executor) {
  if (contiguous) return l0op::Contiguous(tensor, executor);
  return executor->CreateView(tensor, tensor->GetViewShape(), tensor->GetViewOffset());
}

}  // namespace sfmla::cann
