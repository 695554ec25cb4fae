// SPDX-License-Identifier: Apache-2.0
// Tensors as a CANN build describes them to the code that it shares with the host library. C++17
// without any header of CANN or of the runtime, so that both sides can include it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sfmla::cann {

inline constexpr int32_t kPlainFormat = 2;  // ACL_FORMAT_ND, ge::FORMAT_ND

struct OperandView {
  bool given = false;
  int32_t data_type = 0;  // the number that aclDataType and ge::DataType share
  int32_t format = kPlainFormat;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // elements, one per axis; none: contiguous
  int64_t offset = 0;            // elements
};

// Why a call is refused, as the headers of the C functions say; code 0: it is not.
struct Refusal {
  int32_t code = 0;
  std::string text;

  bool ok() const { return code == 0; }
};

}  // namespace sfmla::cann
