// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "base/checked_math.h"

namespace sfmla {
namespace {

auto& g_tensors = *new HandleTable<Tensor>(HandleKind::kTensor);

struct DataTypeRow {
  aclDataType dtype;
  const char* name;
  int64_t bytes;         // 0: not whole bytes
  size_t platform_size;  // aclDataTypeSize
};

constexpr size_t kUnknownPlatformSize = 8;

constexpr std::array kDataTypes = {
    DataTypeRow{ACL_DT_UNDEFINED, "UNDEFINED", 0, 0},
    DataTypeRow{ACL_FLOAT, "FLOAT", 4, 4},
    DataTypeRow{ACL_FLOAT16, "FLOAT16", 2, 2},
    DataTypeRow{ACL_INT8, "INT8", 1, 1},
    DataTypeRow{ACL_INT32, "INT32", 4, 4},
    DataTypeRow{ACL_UINT8, "UINT8", 1, 1},
    DataTypeRow{ACL_INT16, "INT16", 2, 2},
    DataTypeRow{ACL_UINT16, "UINT16", 2, 2},
    DataTypeRow{ACL_UINT32, "UINT32", 4, 4},
    DataTypeRow{ACL_INT64, "INT64", 8, 8},
    DataTypeRow{ACL_UINT64, "UINT64", 8, 8},
    DataTypeRow{ACL_DOUBLE, "DOUBLE", 8, 8},
    DataTypeRow{ACL_BOOL, "BOOL", 1, 1},
    DataTypeRow{ACL_STRING, "STRING", 0, 0},
    DataTypeRow{ACL_COMPLEX64, "COMPLEX64", 8, 8},
    DataTypeRow{ACL_COMPLEX128, "COMPLEX128", 16, 16},
    DataTypeRow{ACL_BF16, "BFLOAT16", 2, 2},
    DataTypeRow{ACL_INT4, "INT4", 0, 1},
    DataTypeRow{ACL_UINT1, "UINT1", 0, 1},
    DataTypeRow{ACL_COMPLEX32, "COMPLEX32", 4, 4},
    DataTypeRow{ACL_HIFLOAT8, "HIFLOAT8", 1, 1},
    DataTypeRow{ACL_FLOAT8_E5M2, "FLOAT8_E5M2", 1, 1},
    DataTypeRow{ACL_FLOAT8_E4M3FN, "FLOAT8_E4M3FN", 1, 1},
    DataTypeRow{ACL_FLOAT8_E8M0, "FLOAT8_E8M0", 1, 1},
    DataTypeRow{ACL_FLOAT6_E3M2, "FLOAT6_E3M2", 0, kUnknownPlatformSize},
    DataTypeRow{ACL_FLOAT6_E2M3, "FLOAT6_E2M3", 0, kUnknownPlatformSize},
    DataTypeRow{ACL_FLOAT4_E2M1, "FLOAT4_E2M1", 0, kUnknownPlatformSize},
    DataTypeRow{ACL_FLOAT4_E1M2, "FLOAT4_E1M2", 0, kUnknownPlatformSize},
};

const DataTypeRow* FindDataType(aclDataType dtype) {
  const auto row = std::find_if(kDataTypes.begin(), kDataTypes.end(),
                                [&](const DataTypeRow& each) { return each.dtype == dtype; });
  return row == kDataTypes.end() ? nullptr : &*row;
}

}  // namespace

int64_t TensorDesc::num_elements() const {
  const auto kept = static_cast<size_t>(std::min<int64_t>(rank, kMaxOperandRank));
  if (std::find(dims.begin(), dims.begin() + kept, 0) != dims.begin() + kept) return 0;
  int64_t count = 1;
  for (size_t axis = 0; axis < kept; ++axis) {
    count = CheckedMul(count, dims[axis]).value_or(std::numeric_limits<int64_t>::max());
  }
  return count;
}

HandleTable<Tensor>& Tensors() { return g_tensors; }

std::shared_ptr<Tensor> FindTensor(const aclTensor* handle) { return Tensors().Find(handle); }

TensorDesc Describe(const Tensor& tensor) {
  TensorDesc desc;
  desc.rank = static_cast<int64_t>(tensor.view_dims.size());
  const size_t kept = std::min<size_t>(tensor.view_dims.size(), kMaxOperandRank);
  std::copy_n(tensor.view_dims.begin(), kept, desc.dims.begin());
  std::copy_n(tensor.view_strides.begin(), kept, desc.strides.begin());
  desc.offset = tensor.view_offset;
  desc.dtype = tensor.dtype;
  desc.format = tensor.format;
  desc.data = tensor.data.load();
  return desc;
}

const char* DataTypeName(aclDataType dtype) {
  if (const DataTypeRow* row = FindDataType(dtype)) return row->name;
  // Several buffers, because one sentence may name several types.
  constexpr size_t kNumBuffers = 8;
  static thread_local std::array<std::array<char, 16>, kNumBuffers> buffers;
  static thread_local size_t next = 0;
  std::array<char, 16>& buffer = buffers[next++ % kNumBuffers];
  std::snprintf(buffer.data(), buffer.size(), "%d", static_cast<int>(dtype));
  return buffer.data();
}

int64_t DataTypeBytes(aclDataType dtype) {
  const DataTypeRow* row = FindDataType(dtype);
  return row == nullptr ? 0 : row->bytes;
}

size_t PlatformElementSize(aclDataType dtype) {
  const DataTypeRow* row = FindDataType(dtype);
  return row == nullptr ? kUnknownPlatformSize : row->platform_size;
}

}  // namespace sfmla
