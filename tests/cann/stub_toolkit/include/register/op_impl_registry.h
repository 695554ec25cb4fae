// SPDX-License-Identifier: Apache-2.0
// Stub: contexts of shape inference and tiling, and their registration (OpImplRegisterV2,
// TilingContext, InferShapeContext, RuntimeAttrs, TilingData of CANN's manual).
#pragma once

#include <type_traits>

#include "exe_graph/runtime/shape.h"
#include "graph/types.h"

namespace fe {
class PlatFormInfos;
}  // namespace fe

namespace gert {

class CompileTimeTensorDesc {
 public:
  ge::DataType GetDataType() const;
  ge::Format GetOriginFormat() const;
  ge::Format GetStorageFormat() const;
};

class RuntimeAttrs {
 public:
  RuntimeAttrs() = delete;
  RuntimeAttrs(const RuntimeAttrs&) = delete;
  const int64_t* GetInt(const size_t index) const;
  const float* GetFloat(const size_t index) const;
  const bool* GetBool(const size_t index) const;
  const char* GetStr(const size_t index) const;
  size_t GetAttrNum() const;
};

class TilingData {
 public:
  TilingData(const TilingData&) = delete;
  size_t GetCapacity() const;
  size_t GetDataSize() const;
  void SetDataSize(const size_t size);
  void* GetData();
  template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
  ge::graphStatus Append(const T& data);
};

class ExtendedKernelContext {
 public:
  ExtendedKernelContext() = delete;
  const CompileTimeTensorDesc* GetInputDesc(const size_t index) const;
  const CompileTimeTensorDesc* GetOptionalInputDesc(const size_t ir_index) const;
  const CompileTimeTensorDesc* GetOutputDesc(const size_t index) const;
  const RuntimeAttrs* GetAttrs() const;
  const ge::char_t* GetNodeName() const;
};

class TilingContext : public ExtendedKernelContext {
 public:
  const StorageShape* GetInputShape(const size_t index) const;
  const StorageShape* GetOptionalInputShape(const size_t ir_index) const;
  const StorageShape* GetOutputShape(size_t index) const;
  ge::graphStatus SetTilingKey(const uint64_t tiling_key);
  ge::graphStatus SetBlockDim(const uint32_t block_dim);
  ge::graphStatus SetScheduleMode(const uint32_t schedule_mode);
  TilingData* GetRawTilingData();
  size_t* GetWorkspaceSizes(const size_t workspace_count);
  fe::PlatFormInfos* GetPlatformInfo() const;
};

class TilingParseContext : public ExtendedKernelContext {};

class InferShapeContext : public ExtendedKernelContext {
 public:
  const Shape* GetInputShape(const size_t index) const;
  const Shape* GetOptionalInputShape(const size_t ir_index) const;
  Shape* GetOutputShape(const size_t index);
};

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  ge::DataType GetInputDataType(const size_t index) const;
  ge::graphStatus SetOutputDataType(const size_t index, const ge::DataType datatype);
};

class OpImplRegisterV2 {
 public:
  using InferShapeKernelFunc = ge::graphStatus (*)(InferShapeContext*);
  using InferDataTypeKernelFunc = ge::graphStatus (*)(InferDataTypeContext*);
  using TilingKernelFunc = ge::graphStatus (*)(TilingContext*);
  using TilingParseFunc = ge::graphStatus (*)(TilingParseContext*);

  explicit OpImplRegisterV2(const ge::char_t* op_type);
  OpImplRegisterV2(const OpImplRegisterV2&);
  OpImplRegisterV2& InferShape(InferShapeKernelFunc function);
  OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc function);
  OpImplRegisterV2& Tiling(TilingKernelFunc function, size_t max_tiling_data_size = 2048);
  template <typename T>
  OpImplRegisterV2& TilingParse(TilingParseFunc const function);
};

}  // namespace gert

#define IMPL_OP_INFERSHAPE(op_type) \
  static gert::OpImplRegisterV2 op_impl_infershape_##op_type = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) \
  static gert::OpImplRegisterV2 op_impl_optiling_##op_type = gert::OpImplRegisterV2(#op_type)
