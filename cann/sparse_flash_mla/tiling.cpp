// SPDX-License-Identifier: Apache-2.0
// Tiling of SparseFlashMla: reads the context, asks op_host, writes the context.
#include <cstdio>

#include "cann/bridge/sparse_flash_mla.h"
#include "cann/sparse_flash_mla/signature.h"
#include "cann/toolkit/shapes.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace sfmla::cann {
namespace {

using Attribute = SparseFlashMlaAttribute;

// SyncAll needs all cores at once.
constexpr uint32_t kAllCoresAtOnce = 1;

// Attributes of a context, each with its default from the definition.
class Attributes {
 public:
  explicit Attributes(const gert::RuntimeAttrs& attributes) : attributes_(attributes) {}

  int64_t Int(Attribute which, int64_t otherwise) const {
    const int64_t* value = attributes_.GetInt(static_cast<size_t>(which));
    return value == nullptr ? otherwise : *value;
  }
  double Float(Attribute which, double otherwise) const {
    const float* value = attributes_.GetFloat(static_cast<size_t>(which));
    return value == nullptr ? otherwise : static_cast<double>(*value);
  }
  bool Bool(Attribute which) const {
    const bool* value = attributes_.GetBool(static_cast<size_t>(which));
    return value != nullptr && *value;
  }
  const char* Text(Attribute which) const { return attributes_.GetStr(static_cast<size_t>(which)); }

 private:
  const gert::RuntimeAttrs& attributes_;
};

OperandView ViewOf(const gert::StorageShape* shape, const gert::CompileTimeTensorDesc* desc) {
  OperandView out;
  if (shape == nullptr || desc == nullptr) return out;
  out.given = true;
  out.data_type = static_cast<int32_t>(desc->GetDataType());
  out.format = static_cast<int32_t>(desc->GetStorageFormat());
  out.dims = DimsOf(shape->GetStorageShape());
  return out;
}

// (pages or requests, tokens, 1, D), or (tokens, 1, D) where there is no outer axis.
void SetCacheStrides(int64_t outer_stride, int64_t token_stride, OperandView* cache) {
  const size_t rank = cache->dims.size();
  if (rank < 3 || token_stride == 0) return;
  cache->strides.assign(rank, 1);
  cache->strides[rank - 2] = cache->dims[rank - 1];
  cache->strides[rank - 3] = token_stride;
  if (rank > 3) cache->strides[0] = outer_stride;
}

void ReadOperands(gert::TilingContext* context, SparseFlashMlaCall* call) {
  using namespace smla_operand;
  call->operands[kQ] = ViewOf(context->GetInputShape(kQ), context->GetInputDesc(kQ));
  for (size_t slot = kQ + 1; slot < kSparseFlashMlaInputs; ++slot) {
    call->operands[slot] =
        ViewOf(context->GetOptionalInputShape(slot), context->GetOptionalInputDesc(slot));
  }
  for (size_t slot = kSparseFlashMlaInputs; slot < kCount; ++slot) {
    const size_t output = slot - kSparseFlashMlaInputs;
    call->operands[slot] = ViewOf(context->GetOutputShape(output), context->GetOutputDesc(output));
  }
}

void ReadAttributes(const Attributes& attributes, SparseFlashMlaCall* call) {
  call->softmax_scale = attributes.Float(Attribute::kSoftmaxScale, 1.0);
  call->cmp_ratio = attributes.Int(Attribute::kCmpRatio, 1);
  call->ori_mask_mode = attributes.Int(Attribute::kOriMaskMode, 0);
  call->cmp_mask_mode = attributes.Int(Attribute::kCmpMaskMode, 0);
  call->ori_win_left = attributes.Int(Attribute::kOriWinLeft, -1);
  call->ori_win_right = attributes.Int(Attribute::kOriWinRight, -1);
  call->layout_q = attributes.Text(Attribute::kLayoutQ);
  call->layout_kv = attributes.Text(Attribute::kLayoutKv);
  call->topk_value_mode = attributes.Int(Attribute::kTopkValueMode, 1);
  call->return_softmax_lse = attributes.Bool(Attribute::kReturnSoftmaxLse);
  SetCacheStrides(attributes.Int(Attribute::kOriOuterStride, 0),
                  attributes.Int(Attribute::kOriTokenStride, 0),
                  &call->operands[smla_operand::kOriKv]);
  SetCacheStrides(attributes.Int(Attribute::kCmpOuterStride, 0),
                  attributes.Int(Attribute::kCmpTokenStride, 0),
                  &call->operands[smla_operand::kCmpKv]);
}

ge::graphStatus WritePlan(const SparseFlashMlaPlan& plan, uint32_t groups,
                          int64_t system_workspace_bytes, gert::TilingContext* context) {
  gert::TilingData* bytes = context->GetRawTilingData();
  size_t* workspace_bytes = context->GetWorkspaceSizes(1);
  if (bytes == nullptr || workspace_bytes == nullptr) return ge::GRAPH_FAILED;
  if (bytes->Append(plan.tiling) != ge::GRAPH_SUCCESS) return ge::GRAPH_FAILED;
  *workspace_bytes = static_cast<size_t>(system_workspace_bytes + plan.tiling.workspace.bytes);
  context->SetTilingKey(plan.tiling_key);
  context->SetBlockDim(groups);
  return context->SetScheduleMode(kAllCoresAtOnce);
}

ge::graphStatus Tiling(gert::TilingContext* context) {
  if (context->GetAttrs() == nullptr) return ge::GRAPH_FAILED;
  SparseFlashMlaCall call;
  ReadOperands(context, &call);
  ReadAttributes(Attributes(*context->GetAttrs()), &call);

  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  const uint32_t groups = platform.GetCoreNumAic();
  SparseFlashMlaPlan plan;
  const Refusal refusal = PlanCall(call, groups, &plan);
  if (!refusal.ok()) {
    // Calls through aclnn never get here: they have been refused, and logged, before.
    std::fprintf(stderr, "sfmla: SparseFlashMla: %s\n", refusal.text.c_str());
    return ge::GRAPH_FAILED;
  }
  return WritePlan(plan, groups, platform.GetLibApiWorkSpaceSize(), context);
}

// Nothing that the compiler says about a binary matters to the tiling.
struct NoCompileInfo {};
ge::graphStatus ParseNothing(gert::TilingParseContext*) { return ge::GRAPH_SUCCESS; }

}  // namespace

IMPL_OP_OPTILING(SparseFlashMla).Tiling(Tiling).TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace sfmla::cann
