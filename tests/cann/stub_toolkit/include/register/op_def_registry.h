// SPDX-License-Identifier: Apache-2.0
// Stub: OpDef and its parts, "prototype registration and management" of CANN's manual.
#pragma once

#include <vector>

#include "register/op_impl_registry.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };

class OpParamDef {
 public:
  OpParamDef& ParamType(Option param_type);
  OpParamDef& DataType(std::vector<ge::DataType> types);
  OpParamDef& Format(std::vector<ge::Format> formats);
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats);
  OpParamDef& AutoContiguous();
};

class OpAttrDef {
 public:
  OpAttrDef& AttrType(Option attr_type);
  OpAttrDef& Bool(bool value);
  OpAttrDef& Float(float value);
  OpAttrDef& Int(int64_t value);
  OpAttrDef& String(const char* value);
};

class OpAICoreDef {
 public:
  void AddConfig(const char* soc);
};

class OpDef {
 public:
  explicit OpDef(const char* type);
  OpParamDef& Input(const char* name);
  OpParamDef& Output(const char* name);
  OpAttrDef& Attr(const char* name);
  OpAICoreDef& AICore();
};

}  // namespace ops

#define OP_ADD(op_class) static op_class op_add_##op_class(#op_class)
