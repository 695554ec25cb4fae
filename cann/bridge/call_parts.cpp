// SPDX-License-Identifier: Apache-2.0
#include "cann/bridge/call_parts.h"

#include <algorithm>
#include <cassert>

namespace sfmla::cann {

OperandArg OperandOf(const char* name, const OperandView& view) {
  OperandArg out;
  out.name = name;
  if (!view.given) return out;
  out.handle = reinterpret_cast<const aclTensor*>(&view);
  out.live = true;
  TensorDesc& desc = out.desc;
  desc.rank = static_cast<int64_t>(view.dims.size());
  desc.dtype = static_cast<aclDataType>(view.data_type);
  desc.format = static_cast<aclFormat>(view.format);
  desc.offset = view.offset;
  const size_t kept = std::min<size_t>(view.dims.size(), kMaxOperandRank);
  std::copy_n(view.dims.begin(), kept, desc.dims.begin());
  if (!view.strides.empty()) {
    assert(view.strides.size() == view.dims.size());
    std::copy_n(view.strides.begin(), kept, desc.strides.begin());
    return out;
  }
  int64_t stride = 1;
  for (size_t axis = kept; axis-- > 0;) {
    desc.strides[axis] = stride;
    stride *= std::max<int64_t>(desc.dims[axis], 1);
  }
  return out;
}

const ProductRules& DeviceRules() {
  const auto products = AllProductRules();
  const auto row = std::find_if(products.begin(), products.end(),
                                [](const ProductRules& each) { return each.name == "ascend910b"; });
  assert(row != products.end());
  return *row;
}

}  // namespace sfmla::cann
