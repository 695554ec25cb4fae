// SPDX-License-Identifier: Apache-2.0
// Shapes and types of the outputs in a graph: op_host's rules.
#include "cann/bridge/sparse_flash_mla.h"
#include "cann/sparse_flash_mla/signature.h"
#include "cann/toolkit/shapes.h"
#include "register/op_impl_registry.h"

namespace sfmla::cann {
namespace {

constexpr size_t kAttnOutIndex = smla_operand::kAttnOut - kSparseFlashMlaInputs;
constexpr size_t kSoftmaxLseIndex = smla_operand::kSoftmaxLse - kSparseFlashMlaInputs;

ge::graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape* q = context->GetInputShape(smla_operand::kQ);
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  gert::Shape* attn_out = context->GetOutputShape(kAttnOutIndex);
  gert::Shape* softmax_lse = context->GetOutputShape(kSoftmaxLseIndex);
  if (q == nullptr || attributes == nullptr || attn_out == nullptr || softmax_lse == nullptr) {
    return ge::GRAPH_FAILED;
  }
  *attn_out = *q;
  const bool* returned =
      attributes->GetBool(static_cast<size_t>(SparseFlashMlaAttribute::kReturnSoftmaxLse));
  if (returned == nullptr || !*returned) {
    SetDims({1}, softmax_lse);
    return ge::GRAPH_SUCCESS;
  }
  const char* layout_q = attributes->GetStr(static_cast<size_t>(SparseFlashMlaAttribute::kLayoutQ));
  SetDims(LseDims(DimsOf(*q), layout_q), softmax_lse);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  context->SetOutputDataType(kAttnOutIndex, context->GetInputDataType(smla_operand::kQ));
  context->SetOutputDataType(kSoftmaxLseIndex, ge::DT_FLOAT);
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_INFERSHAPE(SparseFlashMla).InferShape(InferShape).InferDataType(InferDataType);

}  // namespace sfmla::cann
