// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv/check.h"

#include <string_view>

#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_host/common/operand_table.h"
#include "op_host/sparse_attn_sharedkv/infer_shape.h"
#include "op_host/sparse_attn_sharedkv/product_check.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {
namespace {

using namespace sharedkv_operand;

class Checker {
 public:
  explicit Checker(const SparseAttnSharedkvArgs& args)
      : args_(args), table_(problem_.operands, problem_.uses, code::kAclnnParamNullptr) {
    problem_.operands = args.operands;
  }

  Result<SparseAttnSharedkvProblem> Run(const ProductRules& product);

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }
  const AttentionRules& rules() const { return problem_.rules; }
  bool IsPaged() const { return rules().layout_kv == Layout::kPaged; }
  bool IsPacked() const { return rules().layout_kv == Layout::kTnd; }

  Result<AttentionParts> FindParts() const;
  Status CheckMasks(const AttentionParts& parts) const;
  Status CheckAttributeValues();
  Status CheckQuery();
  Status CheckPresence() const;
  void MarkUses();
  Status CheckIntegers();
  Status CheckKv();
  Status CheckRoomForGroups() const;
  Status ApplyStride(Slot slot, const char* attribute, int64_t stride, CacheGeometry* geometry);

  const SparseAttnSharedkvArgs& args_;
  SparseAttnSharedkvProblem problem_;
  OperandTable table_;
};

Result<AttentionParts> Checker::FindParts() const {
  if (At(kOriSparseIndices).present()) {
    return Refuse("ori_sparse_indices: given, must be absent");
  }
  const Result<int64_t> cmp_topk = ListWidth(At(kCmpSparseIndices));
  if (!cmp_topk.ok()) return cmp_topk.status();
  AttentionParts out;
  out.cmp_topk = cmp_topk.value();
  // Before its first complete group a request has a compressed cache without rows; its layout or
  // what comes with it tells it from an absent one.
  const OperandArg& cmp_kv = At(kCmpKv);
  const char* layout_kv = args_.attributes.layout_kv;
  const bool batched = layout_kv != nullptr && std::string_view(layout_kv) == "BSND";
  const bool has_company =
      batched || out.cmp_topk > 0 || At(kCmpBlockTable).present() || At(kCuSeqlensCmpKv).present();
  out.has_cmp =
      cmp_kv.present() || (cmp_kv.handle != nullptr && cmp_kv.desc.rank > 1 && has_company);
  if (out.cmp_topk > 0 && !out.has_cmp) {
    return Refuse("cmp_sparse_indices: given without cmp_kv, must come with it");
  }
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

Status Checker::CheckAttributeValues() {
  const Result<float> scale = CheckScale("softmax_scale", args_.softmax_scale);
  if (!scale.ok()) return scale.status();
  const Result<AttentionParts> parts = FindParts();
  if (!parts.ok()) return parts.status();
  SFMLA_RETURN_IF_ERROR(CheckMasks(parts.value()));
  const Result<AttentionRules> rules =
      CheckAttributes(args_.attributes, parts.value(), kSharedKvLayouts);
  if (!rules.ok()) return rules.status();
  problem_.rules = rules.value();
  problem_.softmax_scale = scale.value();
  problem_.return_softmax_lse = args_.return_softmax_lse;
  return Status::Ok();
}

Status Checker::CheckQuery() {
  table_.axes().Fix(Axis::kMetadataWords, kMetadataWords,
                    "(the words aclnnSparseAttnSharedkvMetadata writes)");
  SFMLA_RETURN_IF_ERROR(CheckQueries(&table_, kQ, kSharedKvHeadDim, &problem_));
  return CheckQuerySums(&table_, kCuSeqlensQ, &problem_);
}

Status Checker::CheckPresence() const {
  if (At(kOriKv).absent() && problem_.query_rows > 0) {
    return Refuse("ori_kv: zero elements, must hold at least one token");
  }
  if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kOriBlockTable, "with layout_kv PA_ND"));
    SFMLA_RETURN_IF_ERROR(table_.Require(kSequsedKv, "with layout_kv PA_ND"));
  }
  if (IsPacked()) SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensOriKv, "with layout_kv TND"));
  if (!rules().has_cmp) return Status::Ok();
  if (IsPaged()) return table_.Require(kCmpBlockTable, "with cmp_kv and layout_kv PA_ND");
  return IsPacked() ? table_.Require(kCuSeqlensCmpKv, "with cmp_kv and layout_kv TND")
                    : Status::Ok();
}

// Which of the given tensors mean something in this mode; the rest is ignored.
void Checker::MarkUses() {
  for (const Slot slot : {kQ, kSequsedQ, kSequsedKv, kSinks}) table_.Use(slot);
  table_.UseAlways(kMetadata);
  table_.Use(kOriKv, true);
  if (IsPacked()) table_.Use(kCuSeqlensOriKv);
  if (IsPaged()) table_.Use(kOriBlockTable);
  if (rules().has_cmp) {
    table_.Use(kCmpKv, true);
    if (IsPacked()) table_.Use(kCuSeqlensCmpKv);
    if (IsPaged()) table_.Use(kCmpBlockTable);
    table_.Use(kCmpSparseIndices);
  }
  table_.UseOutput(kAttnOut, true);
  table_.UseOutput(kSoftmaxLse, args_.return_softmax_lse);
}

Status Checker::CheckIntegers() {
  for (const Slot slot : {kCuSeqlensOriKv, kCuSeqlensCmpKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kBPlus1}));
  }
  for (const Slot slot : {kSequsedQ, kSequsedKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kB}));
  }
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kOriBlockTable, {Axis::kB, Axis::kOriColumns}));
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kCmpBlockTable, {Axis::kB, Axis::kCmpColumns}));
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kMetadata, {Axis::kMetadataWords}));
  return CheckRowIntegers(&table_, kCmpSparseIndices, rules().layout_q, Axis::kK2);
}

Status Checker::ApplyStride(Slot slot, const char* attribute, int64_t stride,
                            CacheGeometry* geometry) {
  if (!IsPaged() || stride == 0) return Status::Ok();
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

Status Checker::CheckKv() {
  SFMLA_RETURN_IF_ERROR(
      CheckCaches(&table_, {kQ, kOriKv, kOriBlockTable, kCmpKv, kCmpBlockTable}, &problem_));
  SFMLA_RETURN_IF_ERROR(CheckRoomForGroups());
  SFMLA_RETURN_IF_ERROR(ApplyStride(kOriKv, "ori_kv_stride", args_.ori_kv_stride, &problem_.ori));
  if (!rules().has_cmp) return Status::Ok();
  return ApplyStride(kCmpKv, "cmp_kv_stride", args_.cmp_kv_stride, &problem_.cmp);
}

Result<SparseAttnSharedkvProblem> Checker::Run(const ProductRules& product) {
  const auto check = [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(
        table_.CheckHandles({kQ, kOriKv, kSinks, kMetadata, kAttnOut, kSoftmaxLse}));
    SFMLA_RETURN_IF_ERROR(CheckAttributeValues());
    SFMLA_RETURN_IF_ERROR(CheckQuery());
    SFMLA_RETURN_IF_ERROR(CheckPresence());
    MarkUses();
    SFMLA_RETURN_IF_ERROR(CheckIntegers());
    SFMLA_RETURN_IF_ERROR(CheckKv());
    SFMLA_RETURN_IF_ERROR(CheckSinksAndOutputs(&table_, {kQ, kSinks, kAttnOut, kSoftmaxLse},
                                               SharedKvLseAxes(problem_.rules.layout_q), problem_));
    SFMLA_RETURN_IF_ERROR(CheckSharedKvProduct(product, args_, problem_));
    return table_.CheckUsedData();
  };
  if (Status status = check(); !status.ok()) return status;
  return problem_;
}

}  // namespace

Result<SparseAttnSharedkvProblem> CheckSparseAttnSharedkv(const SparseAttnSharedkvArgs& args,
                                                          const ProductRules& product) {
  return Checker(args).Run(product);
}

}  // namespace sfmla
