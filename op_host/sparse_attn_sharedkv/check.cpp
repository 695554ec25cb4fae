// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv/check.h"

#include <string_view>

#include "base/format.h"
#include "op_host/common/operand_table.h"
#include "op_host/common/shared_kv_checks.h"
#include "op_host/sparse_attn_sharedkv/infer_shape.h"
#include "op_host/sparse_attn_sharedkv/product_check.h"

namespace sfmla {
namespace {

using namespace sharedkv_operand;

constexpr SharedKvSlots kSlots = {
    {kOriKv, kOriBlockTable, kCuSeqlensOriKv, "with layout_kv PA_ND", "with layout_kv TND"},
    {kCmpKv, kCmpBlockTable, kCuSeqlensCmpKv, "with cmp_kv and layout_kv PA_ND",
     "with cmp_kv and layout_kv TND"},
    kQ,
    kCuSeqlensQ,
    kCmpSparseIndices,
    kSinks,
    kMetadata,
    kAttnOut,
    kSoftmaxLse,
    "(the words aclnnSparseAttnSharedkvMetadata writes)"};

class Checker {
 public:
  explicit Checker(const SparseAttnSharedkvArgs& args)
      : args_(args), table_(problem_.operands, problem_.uses, code::kAclnnParamNullptr) {
    problem_.operands = args.operands;
  }

  Status Check(const ProductRules& product);
  const SparseAttnSharedkvProblem& problem() const { return problem_; }

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }
  const AttentionRules& rules() const { return problem_.rules; }

  Result<AttentionParts> FindParts() const;
  Status CheckMasks(const AttentionParts& parts) const;
  Status CheckPresence() const;
  Status CheckRoomForGroups() const;
  Status ApplyStride(Slot slot, const char* attribute, int64_t stride, CacheGeometry* geometry);
  Status ApplyStrides();

  const SparseAttnSharedkvArgs& args_;
  SparseAttnSharedkvProblem problem_;
  OperandTable table_;
};

Result<AttentionParts> Checker::FindParts() const {
  if (At(kOriSparseIndices).present()) {
    return Refuse("ori_sparse_indices: given, must be absent");
  }
  // Before its first complete group a request has a compressed cache without rows; its layout or
  // what comes with it tells it from an absent one.
  const OperandArg& cmp_kv = At(kCmpKv);
  const char* layout_kv = args_.attributes.layout_kv;
  const bool batched = layout_kv != nullptr && std::string_view(layout_kv) == "BSND";
  const bool has_company = batched || At(kCmpSparseIndices).present() ||
                           At(kCmpBlockTable).present() || At(kCuSeqlensCmpKv).present();
  AttentionParts out;
  out.has_cmp =
      cmp_kv.present() || (cmp_kv.handle != nullptr && cmp_kv.desc.rank > 1 && has_company);
  const Result<int64_t> cmp_topk = CompressedListWidth(table_, kSlots, out.has_cmp);
  if (!cmp_topk.ok()) return cmp_topk.status();
  out.cmp_topk = cmp_topk.value();
  return out;
}

Status Checker::CheckMasks(const AttentionParts& parts) const {
  const AttentionAttributes& given = args_.attributes;
  if (given.ori_mask_mode != 4) {
    return Refuse(Str("ori_mask_mode: ", given.ori_mask_mode, ", must be 4 (sliding window)"));
  }
  SFMLA_RETURN_IF_ERROR(CheckLimitedWindow(given));
  if (parts.has_cmp && given.cmp_mask_mode != 3) {
    return Refuse(Str("cmp_mask_mode: ", given.cmp_mask_mode, ", must be 3 (causal) with cmp_kv"));
  }
  return Status::Ok();
}

Status Checker::CheckPresence() const {
  SFMLA_RETURN_IF_ERROR(RequireCacheIndex(table_, kSlots.ori, rules().layout_kv));
  if (rules().layout_kv == Layout::kPaged) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kSequsedKv, kSlots.ori.when_paged));
  }
  if (!rules().has_cmp) return Status::Ok();
  return RequireCacheIndex(table_, kSlots.cmp, rules().layout_kv);
}

Status Checker::ApplyStride(Slot slot, const char* attribute, int64_t stride,
                            CacheGeometry* geometry) {
  if (rules().layout_kv != Layout::kPaged || stride == 0) return Status::Ok();
  const int64_t block_elements = geometry->page_tokens * kHeadDim;
  if (stride < block_elements) {
    return Refuse(Str(attribute, ": ", stride, ", must be 0 (the stride of ", At(slot).name,
                      ") or at least ", block_elements, ", the elements of a block"));
  }
  problem_.operands[slot].desc.strides[0] = stride;
  geometry->outer_stride = stride;
  return Status::Ok();
}

// Where the host knows the lengths, every complete group has its row.
Status Checker::CheckRoomForGroups() const {
  if (rules().layout_kv != Layout::kBsnd || !rules().has_cmp || table_.Used(kSequsedKv)) {
    return Status::Ok();
  }
  const int64_t groups = problem_.ori.tokens / rules().cmp_ratio;
  if (problem_.cmp.tokens >= groups) return Status::Ok();
  return Refuse(Str("cmp_kv: axis 1 (tokens) is ", problem_.cmp.tokens, ", must be at least ",
                    groups, ", one for each ", rules().cmp_ratio, " of ", problem_.ori.tokens,
                    " original tokens"));
}

Status Checker::ApplyStrides() {
  SFMLA_RETURN_IF_ERROR(ApplyStride(kOriKv, "ori_kv_stride", args_.ori_kv_stride, &problem_.ori));
  if (!rules().has_cmp) return Status::Ok();
  return ApplyStride(kCmpKv, "cmp_kv_stride", args_.cmp_kv_stride, &problem_.cmp);
}

Status Checker::Check(const ProductRules& product) {
  SFMLA_RETURN_IF_ERROR(
      table_.CheckHandles({kQ, kOriKv, kSinks, kMetadata, kAttnOut, kSoftmaxLse}));
  const Result<AttentionParts> parts = FindParts();
  if (!parts.ok()) return parts.status();
  SFMLA_RETURN_IF_ERROR(CheckMasks(parts.value()));
  SFMLA_RETURN_IF_ERROR(CheckSharedKvAttributes(args_, parts.value(), kSharedKvLayouts, &problem_));
  SFMLA_RETURN_IF_ERROR(CheckSharedKvQuery(&table_, kSlots, &problem_));
  SFMLA_RETURN_IF_ERROR(CheckPresence());
  UseSharedKvTensors(&table_, kSlots, problem_);
  for (const Slot slot : {kSequsedQ, kSequsedKv}) {
    table_.Use(slot);
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kB}));
  }
  SFMLA_RETURN_IF_ERROR(
      CheckSharedKvTensors(&table_, kSlots, SharedKvLseAxes(rules().layout_q), &problem_));
  SFMLA_RETURN_IF_ERROR(CheckRoomForGroups());
  SFMLA_RETURN_IF_ERROR(ApplyStrides());
  SFMLA_RETURN_IF_ERROR(CheckSharedKvProduct(product, args_, problem_));
  return table_.CheckUsedData();
}

}  // namespace

Result<SparseAttnSharedkvProblem> CheckSparseAttnSharedkv(const SparseAttnSharedkvArgs& args,
                                                          const ProductRules& product) {
  Checker checker(args);
  SFMLA_RETURN_IF_ERROR(checker.Check(product));
  return checker.problem();
}

}  // namespace sfmla
