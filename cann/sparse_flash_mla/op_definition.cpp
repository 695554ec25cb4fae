// SPDX-License-Identifier: Apache-2.0
// The operator type SparseFlashMla. Needs no other source, because the toolkit's generator loads
// this one alone.
#include <vector>

#include "cann/sparse_flash_mla/signature.h"
#include "register/op_def_registry.h"

namespace ops {

class SparseFlashMla : public OpDef {
 public:
  explicit SparseFlashMla(const char* name) : OpDef(name) {
    for (size_t slot = 0; slot < sfmla::smla_operand::kCount; ++slot) DefineOperand(slot);
    DefineAttributes();
    this->AICore().AddConfig("ascend910b");
    this->AICore().AddConfig("ascend910_93");
  }

 private:
  // One column per kernel binary: float16, bfloat16.
  static std::vector<ge::DataType> TypesOf(size_t slot) {
    using namespace sfmla::smla_operand;
    switch (slot) {
      case kQ:
      case kOriKv:
      case kCmpKv:
      case kAttnOut:
        return {ge::DT_FLOAT16, ge::DT_BF16};
      case kSinks:
      case kSoftmaxLse:
        return {ge::DT_FLOAT, ge::DT_FLOAT};
      default:
        return {ge::DT_INT32, ge::DT_INT32};
    }
  }

  void DefineOperand(size_t slot) {
    using namespace sfmla::smla_operand;
    const std::vector<ge::Format> formats = {ge::FORMAT_ND, ge::FORMAT_ND};
    const char* name = sfmla::kSparseFlashMlaOperandNames[slot];
    OpParamDef& operand =
        slot < sfmla::cann::kSparseFlashMlaInputs ? this->Input(name) : this->Output(name);
    const bool required = slot == kQ || slot == kAttnOut || slot == kSoftmaxLse;
    operand.ParamType(required ? REQUIRED : OPTIONAL)
        .DataType(TypesOf(slot))
        .Format(formats)
        .UnknownShapeFormat(formats);
    // The kernel takes the strides of caches as they are.
    if (slot != kOriKv && slot != kCmpKv) operand.AutoContiguous();
  }

  // In the order of SparseFlashMlaAttribute.
  void DefineAttributes() {
    this->Attr("softmax_scale").AttrType(OPTIONAL).Float(1.0f);
    this->Attr("cmp_ratio").AttrType(OPTIONAL).Int(1);
    this->Attr("ori_mask_mode").AttrType(OPTIONAL).Int(0);
    this->Attr("cmp_mask_mode").AttrType(OPTIONAL).Int(0);
    this->Attr("ori_win_left").AttrType(OPTIONAL).Int(-1);
    this->Attr("ori_win_right").AttrType(OPTIONAL).Int(-1);
    this->Attr("layout_q").AttrType(OPTIONAL).String("BSND");
    this->Attr("layout_kv").AttrType(OPTIONAL).String("BSND");
    this->Attr("topk_value_mode").AttrType(OPTIONAL).Int(1);
    this->Attr("return_softmax_lse").AttrType(OPTIONAL).Bool(false);
    this->Attr("ori_outer_stride").AttrType(OPTIONAL).Int(0);
    this->Attr("ori_token_stride").AttrType(OPTIONAL).Int(0);
    this->Attr("cmp_outer_stride").AttrType(OPTIONAL).Int(0);
    this->Attr("cmp_token_stride").AttrType(OPTIONAL).Int(0);
  }
};

OP_ADD(SparseFlashMla);

}  // namespace ops
