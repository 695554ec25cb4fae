// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/check.h"

#include <cmath>

#include "base/format.h"
#include "op_host/common/operand_table.h"
#include "op_host/sparse_flash_mla/infer_shape.h"
#include "op_host/sparse_flash_mla/product_check.h"
#include "op_kernel/sparse_flash_mla_metadata/metadata_layout.h"

namespace sfmla {
namespace {

using namespace smla_operand;

constexpr int64_t kMaxPageTokens = 1024;

class Checker {
 public:
  Checker(const SparseFlashMlaArgs& args, const ProductRules& product)
      : args_(args), product_(product), table_(args_.operands, problem_.uses) {}

  Result<SparseFlashMlaProblem> Run();

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }
  AxisTable& axes() { return table_.axes(); }
  bool IsTndQuery() const { return problem_.rules.layout_q == Layout::kTnd; }
  bool IsPaged() const { return problem_.rules.layout_kv == Layout::kPaged; }
  bool IsPacked() const { return problem_.rules.layout_kv == Layout::kTnd; }

  Status CheckPointers() const;
  Status CheckAttributeValues();
  Status CheckQuery();
  Status CheckPresence() const;
  Status Require(Slot slot, const char* why) const;
  void MarkUses();
  Status CheckIntegers();
  Status CheckRowIntegers(Slot slot, Axis last);
  Status CheckTopkLength(Slot slot);
  Status CheckCache(Slot slot, Axis outer, Axis rows, CacheGeometry* geometry);
  Status CheckCacheStrides(const OperandArg& cache) const;
  Status CheckSinksAndOutputs();

  const SparseFlashMlaArgs& args_;
  const ProductRules& product_;
  SparseFlashMlaProblem problem_;
  OperandTable table_;
};

Status Checker::CheckPointers() const {
  for (const Slot slot : {kQ, kOriKv, kMetadata, kAttnOut}) {
    if (At(slot).handle == nullptr) {
      return Status(code::kAclnnParamNullptr, Str(At(slot).name, ": NULL, must be a tensor"));
    }
  }
  if (args_.return_softmax_lse && At(kSoftmaxLse).handle == nullptr) {
    return Status(code::kAclnnParamNullptr,
                  "softmax_lse: NULL, must be a tensor when return_softmax_lse is true");
  }
  return table_.CheckHandles();
}

// The width of an index list, 0 if there is none; a list without lanes is a mistake, not an
// absence.
Result<int64_t> ListWidth(const OperandArg& indices) {
  if (indices.handle == nullptr) return int64_t{0};
  const int64_t rank = indices.desc.rank;
  if (rank < 1 || rank > kMaxOperandRank) return int64_t{0};  // the rank is refused later
  const int64_t width = indices.desc.dims[static_cast<size_t>(rank - 1)];
  if (width == 0 && rank > 1) {
    return Refuse(Str(indices.name, ": last axis is 0, must be at least 1"));
  }
  return indices.absent() ? 0 : width;
}

Status Checker::CheckAttributeValues() {
  // Kernels use it as a float.
  if (!std::isfinite(static_cast<float>(args_.softmax_scale))) {
    return Refuse(Str("softmax_scale: ", args_.softmax_scale, ", must be finite as a float"));
  }
  if (args_.topk_value_mode != 1) {
    return Refuse(Str("topk_value_mode: ", args_.topk_value_mode, ", must be 1"));
  }
  AttentionParts parts;
  parts.has_cmp = At(kCmpKv).present();
  const Result<int64_t> ori_topk = ListWidth(At(kOriSparseIndices));
  if (!ori_topk.ok()) return ori_topk.status();
  const Result<int64_t> cmp_topk = ListWidth(At(kCmpSparseIndices));
  if (!cmp_topk.ok()) return cmp_topk.status();
  parts.ori_topk = ori_topk.value();
  parts.cmp_topk = cmp_topk.value();
  if (parts.cmp_topk > 0 && !parts.has_cmp) {
    return Refuse("cmp_sparse_indices: given without cmp_kv, must come with it");
  }
  if (product_.ori_sparse_dense_ignored && parts.has_cmp && parts.cmp_topk == 0) parts.ori_topk = 0;

  const Result<AttentionRules> rules = CheckAttributes(args_.attributes, parts);
  if (!rules.ok()) return rules.status();
  problem_.rules = rules.value();
  problem_.softmax_scale = static_cast<float>(args_.softmax_scale);
  problem_.return_softmax_lse = args_.return_softmax_lse;
  return Status::Ok();
}

Status Checker::CheckQuery() {
  const OperandArg& q = At(kQ);
  if (q.desc.dtype != ACL_FLOAT16 && q.desc.dtype != ACL_BF16) {
    return Refuse(Str("q: dtype ", DataTypeName(q.desc.dtype), ", must be FLOAT16 or BFLOAT16"));
  }
  problem_.is_bfloat16 = q.desc.dtype == ACL_BF16;
  axes().Fix(Axis::kD, kHeadDim,
             "(448 without and 64 with rotary embedding in one vector that is key and value)");
  axes().Fix(Axis::kN2, 1, "(one key/value head)");
  axes().Fix(Axis::kMetadataWords, kMetadataWords,
             "(the words aclnnSparseFlashMlaMetadata writes)");
  SFMLA_RETURN_IF_ERROR(axes().Bind(q, QueryAxes(problem_.rules.layout_q)));

  const int64_t heads = axes().Of(Axis::kN1);
  if (heads < 1 || heads > kMaxHeads) {
    return Refuse(Str("q: axis N1 is ", heads, ", must be in [1, ", kMaxHeads, "]"));
  }
  problem_.rules.heads = static_cast<int32_t>(heads);
  axes().Fix(Axis::kG, heads, "(N1 / N2)");

  const OperandArg& cu_seqlens_q = At(kCuSeqlensQ);
  if (!IsTndQuery()) {
    if (cu_seqlens_q.present()) {
      return Refuse("cu_seqlens_q: given with layout_q BSND, must be absent");
    }
    axes().Fix(Axis::kBPlus1, axes().Of(Axis::kB) + 1, "(B + 1, B as in q)");
  } else {
    SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensQ, "with layout_q TND"));
    table_.Use(kCuSeqlensQ);
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kCuSeqlensQ, {Axis::kBPlus1}));
    axes().Fix(Axis::kB, axes().Of(Axis::kBPlus1) - 1, "(from cu_seqlens_q)");
  }
  problem_.batch = axes().Of(Axis::kB);
  problem_.query_extent = axes().Of(IsTndQuery() ? Axis::kT1 : Axis::kS1);
  problem_.query_rows =
      IsTndQuery() ? problem_.query_extent : problem_.query_extent * problem_.batch;
  return Status::Ok();
}

Status Checker::Require(Slot slot, const char* why) const {
  // Without any request or query row even a required tensor may have no elements.
  const bool nothing_to_do = problem_.query_rows == 0 || problem_.batch == 0;
  if (nothing_to_do && At(slot).handle != nullptr) return Status::Ok();
  return table_.Require(slot, why);
}

Status Checker::CheckPresence() const {
  const AttentionRules& rules = problem_.rules;
  if (At(kOriKv).absent() && problem_.query_rows > 0) {
    return Refuse("ori_kv: zero elements, must hold at least one token");
  }
  SFMLA_RETURN_IF_ERROR(Require(kSinks, "(one FLOAT per query head)"));
  if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(Require(kOriBlockTable, "with layout_kv PA_BBND"));
    if (rules.ori_topk == 0) {
      SFMLA_RETURN_IF_ERROR(
          Require(kSequsedOriKv, "with layout_kv PA_BBND unless ori_sparse_indices are"));
    }
  }
  if (IsPacked()) SFMLA_RETURN_IF_ERROR(Require(kCuSeqlensOriKv, "with layout_kv TND"));
  if (rules.ori_topk > 0 && rules.ori_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        Require(kOriTopkLength, "with ori_sparse_indices when ori_mask_mode is 0"));
  }
  if (!rules.has_cmp) return Status::Ok();
  if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(Require(kCmpBlockTable, "with cmp_kv and layout_kv PA_BBND"));
  }
  if (IsPacked()) SFMLA_RETURN_IF_ERROR(Require(kCuSeqlensCmpKv, "with cmp_kv and layout_kv TND"));
  if (rules.uses_residual()) {
    SFMLA_RETURN_IF_ERROR(
        Require(kCmpResidualKv, "with cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1"));
  }
  if (rules.cmp_topk > 0 && rules.cmp_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        Require(kCmpTopkLength, "with cmp_sparse_indices when cmp_mask_mode is 0"));
  }
  return Status::Ok();
}

// Which of the given tensors mean something in this mode; the rest is ignored.
void Checker::MarkUses() {
  const AttentionRules& rules = problem_.rules;
  for (const Slot slot : {kQ, kSequsedQ, kSequsedOriKv, kSinks}) table_.Use(slot);
  table_.UseAlways(kMetadata);
  table_.Use(kOriKv, true);
  if (IsPacked()) table_.Use(kCuSeqlensOriKv);
  if (IsPaged()) table_.Use(kOriBlockTable);
  if (rules.ori_topk > 0) {
    table_.Use(kOriSparseIndices);
    table_.Use(kOriTopkLength);
  }
  if (rules.has_cmp) {
    table_.Use(kCmpKv, true);
    table_.Use(kSequsedCmpKv);
    if (IsPacked()) table_.Use(kCuSeqlensCmpKv);
    if (IsPaged()) table_.Use(kCmpBlockTable);
    if (rules.uses_residual()) table_.Use(kCmpResidualKv);
    if (rules.cmp_topk > 0) {
      table_.Use(kCmpSparseIndices);
      table_.Use(kCmpTopkLength);
    }
  }
  table_.UseOutput(kAttnOut, true);
  table_.UseOutput(kSoftmaxLse, args_.return_softmax_lse);
}

// (B, S1, N2, last) or (T1, N2, last).
Status Checker::CheckRowIntegers(Slot slot, Axis last) {
  if (IsTndQuery()) return table_.CheckInt32(slot, {Axis::kT1, Axis::kN2, last});
  return table_.CheckInt32(slot, {Axis::kB, Axis::kS1, Axis::kN2, last});
}

Status Checker::CheckTopkLength(Slot slot) {
  if (IsTndQuery()) return table_.CheckInt32(slot, {Axis::kT1, Axis::kN2});
  return table_.CheckInt32(slot, {Axis::kB, Axis::kS1, Axis::kN2});
}

Status Checker::CheckIntegers() {
  struct Rule {
    Slot slot;
    std::initializer_list<Axis> axes;
  };
  const Rule rules[] = {
      {kCuSeqlensOriKv, {Axis::kBPlus1}},
      {kCuSeqlensCmpKv, {Axis::kBPlus1}},
      {kSequsedQ, {Axis::kB}},
      {kSequsedOriKv, {Axis::kB}},
      {kSequsedCmpKv, {Axis::kB}},
      {kCmpResidualKv, {Axis::kB}},
      {kOriBlockTable, {Axis::kB, Axis::kOriColumns}},
      {kCmpBlockTable, {Axis::kB, Axis::kCmpColumns}},
      {kMetadata, {Axis::kMetadataWords}},
  };
  for (const Rule& rule : rules) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(rule.slot, rule.axes));
  }
  SFMLA_RETURN_IF_ERROR(CheckRowIntegers(kOriSparseIndices, Axis::kK1));
  SFMLA_RETURN_IF_ERROR(CheckRowIntegers(kCmpSparseIndices, Axis::kK2));
  SFMLA_RETURN_IF_ERROR(CheckTopkLength(kOriTopkLength));
  return CheckTopkLength(kCmpTopkLength);
}

// Axis 0 free, rows at least 512 apart, elements of a row adjacent; extent-1 axes do not matter.
Status Checker::CheckCacheStrides(const OperandArg& cache) const {
  const TensorDesc& desc = cache.desc;
  const auto rank = static_cast<size_t>(desc.rank);
  if (desc.strides[rank - 1] != 1) {
    return Refuse(Str(cache.name, ": stride of axis ", rank - 1, " (D) is ", desc.strides[rank - 1],
                      ", must be 1"));
  }
  if (desc.dims[0] > 1 && desc.strides[0] < 0) {
    return Refuse(
        Str(cache.name, ": stride of axis 0 is ", desc.strides[0], ", must be at least 0"));
  }
  if (rank == 4 && desc.dims[1] > 1 && desc.strides[1] < kHeadDim) {
    return Refuse(Str(cache.name, ": stride of axis 1 is ", desc.strides[1],
                      " elements, must be at least ", kHeadDim));
  }
  return Status::Ok();
}

Status Checker::CheckCache(Slot slot, Axis outer, Axis rows, CacheGeometry* geometry) {
  const OperandArg& cache = At(slot);
  SFMLA_RETURN_IF_ERROR(CheckDtype(cache, At(kQ).desc.dtype, " as q"));
  if (IsPacked()) {
    SFMLA_RETURN_IF_ERROR(axes().Bind(cache, {rows, Axis::kN2, Axis::kD}));
  } else if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(axes().Bind(cache, {outer, rows, Axis::kN2, Axis::kD}));
  } else {
    SFMLA_RETURN_IF_ERROR(axes().Bind(cache, {Axis::kB, rows, Axis::kN2, Axis::kD}));
  }
  SFMLA_RETURN_IF_ERROR(CheckCacheStrides(cache));

  const TensorDesc& desc = cache.desc;
  geometry->outer_extent = desc.dims[0];
  geometry->outer_stride = desc.strides[0];
  geometry->token_stride = IsPacked() ? desc.strides[0] : desc.strides[1];
  geometry->tokens = axes().Of(rows);
  if (!IsPaged()) return Status::Ok();
  geometry->page_tokens = axes().Of(rows);
  geometry->table_columns = axes().Of(slot == kCmpKv ? Axis::kCmpColumns : Axis::kOriColumns);
  if (geometry->page_tokens > kMaxPageTokens) {
    return Refuse(Str(cache.name, ": axis 1 (block size) is ", geometry->page_tokens,
                      ", must be in [1, ", kMaxPageTokens, "]"));
  }
  if (geometry->table_columns > INT32_MAX) {
    return Refuse(Str(At(slot == kCmpKv ? kCmpBlockTable : kOriBlockTable).name, ": axis 1 is ",
                      geometry->table_columns, ", must be at most ", INT32_MAX));
  }
  geometry->tokens = geometry->page_tokens * geometry->table_columns;
  return Status::Ok();
}

Status Checker::CheckSinksAndOutputs() {
  SFMLA_RETURN_IF_ERROR(CheckDtype(At(kSinks), ACL_FLOAT, ""));
  SFMLA_RETURN_IF_ERROR(axes().Bind(At(kSinks), {Axis::kN1}));
  const OperandArg& attn_out = At(kAttnOut);
  SFMLA_RETURN_IF_ERROR(CheckDtype(attn_out, At(kQ).desc.dtype, " as q"));
  SFMLA_RETURN_IF_ERROR(axes().Bind(attn_out, QueryAxes(problem_.rules.layout_q)));
  SFMLA_RETURN_IF_ERROR(CheckContiguous(attn_out));
  if (!args_.return_softmax_lse) return Status::Ok();
  const OperandArg& lse = At(kSoftmaxLse);
  SFMLA_RETURN_IF_ERROR(CheckDtype(lse, ACL_FLOAT, ""));
  SFMLA_RETURN_IF_ERROR(axes().Bind(lse, LseAxes(problem_.rules.layout_q)));
  return CheckContiguous(lse);
}

Result<SparseFlashMlaProblem> Checker::Run() {
  const auto check = [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(CheckPointers());
    SFMLA_RETURN_IF_ERROR(CheckAttributeValues());
    SFMLA_RETURN_IF_ERROR(CheckQuery());
    SFMLA_RETURN_IF_ERROR(CheckPresence());
    MarkUses();
    SFMLA_RETURN_IF_ERROR(CheckIntegers());
    SFMLA_RETURN_IF_ERROR(CheckCache(kOriKv, Axis::kOriOuter, Axis::kOriTokens, &problem_.ori));
    if (problem_.rules.has_cmp) {
      SFMLA_RETURN_IF_ERROR(CheckCache(kCmpKv, Axis::kCmpOuter, Axis::kCmpTokens, &problem_.cmp));
    }
    SFMLA_RETURN_IF_ERROR(CheckSinksAndOutputs());
    SFMLA_RETURN_IF_ERROR(CheckProduct(product_, args_, problem_));
    return table_.CheckUsedData();
  };
  if (Status status = check(); !status.ok()) return status;
  return problem_;
}

}  // namespace

Result<SparseFlashMlaProblem> CheckSparseFlashMla(const SparseFlashMlaArgs& args,
                                                  const ProductRules& product) {
  return Checker(args, product).Run();
}

}  // namespace sfmla
