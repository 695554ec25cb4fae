// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla_metadata/check.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_host/common/operand_table.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/common/length_tensors.h"

namespace sfmla {
namespace {

using namespace metadata_operand;

class Checker {
 public:
  Checker(const SparseFlashMlaMetadataArgs& args, const ProductRules& product)
      : args_(args), product_(product), table_(args_.operands, problem_.uses) {}

  Status Check();
  const SparseFlashMlaMetadataProblem& problem() const { return problem_; }

 private:
  AxisTable& axes() { return table_.axes(); }
  bool IsTndQuery() const { return problem_.rules.layout_q == Layout::kTnd; }
  Layout LayoutKv() const { return problem_.rules.layout_kv; }

  Status CheckScalars() const;
  Status CheckAttributeValues();
  void MarkUses();
  Status CheckTensors();
  Status FindBatch();
  Status CheckPresence() const;
  Status SetExtents();

  const SparseFlashMlaMetadataArgs& args_;
  const ProductRules& product_;
  SparseFlashMlaMetadataProblem problem_;
  OperandTable table_;
};

Status Checker::CheckScalars() const {
  SFMLA_RETURN_IF_ERROR(CheckCount("batch_size", args_.batch_size));
  SFMLA_RETURN_IF_ERROR(CheckMaximum("max_seqlen_q", args_.max_seqlen_q));
  SFMLA_RETURN_IF_ERROR(CheckMaximum("max_seqlen_ori_kv", args_.max_seqlen_ori_kv));
  SFMLA_RETURN_IF_ERROR(CheckMaximum("max_seqlen_cmp_kv", args_.max_seqlen_cmp_kv));
  if (args_.has_ori_kv) SFMLA_RETURN_IF_ERROR(CheckCount("ori_topk", args_.ori_topk));
  if (args_.has_cmp_kv) SFMLA_RETURN_IF_ERROR(CheckCount("cmp_topk", args_.cmp_topk));
  return CheckPlannedHeads(args_);
}

Status Checker::CheckAttributeValues() {
  // The planner's layouts have no default, unlike those of the main operator.
  if (args_.attributes.layout_q == nullptr) return Refuse("layout_q: NULL, must be BSND or TND");
  if (args_.attributes.layout_kv == nullptr) {
    return Refuse("layout_kv: NULL, must be BSND, TND or PA_BBND");
  }
  const AttentionParts parts = {args_.has_ori_kv, args_.has_cmp_kv, args_.ori_topk, args_.cmp_topk};
  SFMLA_RETURN_IF_ERROR(SetPlannedRules(args_, parts, {}, &problem_));
  return CheckProductAttributes(product_, ProductCheck::kPlanner, args_.attributes, problem_.rules);
}

void Checker::MarkUses() {
  const AttentionRules& rules = problem_.rules;
  const bool packed = LayoutKv() == Layout::kTnd;
  if (IsTndQuery()) table_.Use(kCuSeqlensQ);
  table_.Use(kSequsedQ);
  if (rules.has_ori) {
    if (packed) table_.Use(kCuSeqlensOriKv);
    table_.Use(kSequsedOriKv);
    if (rules.ori_topk > 0) table_.Use(kOriTopkLength);
  }
  if (rules.has_cmp) {
    if (packed) table_.Use(kCuSeqlensCmpKv);
    table_.Use(kSequsedCmpKv);
    if (rules.uses_residual()) table_.Use(kCmpResidualKv);
    if (rules.cmp_topk > 0) table_.Use(kCmpTopkLength);
  }
}

Status Checker::CheckPresence() const {
  const AttentionRules& rules = problem_.rules;
  if (IsTndQuery()) SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensQ, "with layout_q TND"));
  if (rules.has_ori) {
    if (LayoutKv() == Layout::kTnd) {
      SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensOriKv, "with layout_kv TND"));
    }
    if (LayoutKv() == Layout::kPaged && rules.ori_topk == 0) {
      SFMLA_RETURN_IF_ERROR(
          table_.Require(kSequsedOriKv, "with layout_kv PA_BBND unless ori_topk is positive"));
    }
    if (rules.ori_topk > 0 && rules.ori_mask == MaskMode::kNone) {
      SFMLA_RETURN_IF_ERROR(
          table_.Require(kOriTopkLength, "with a positive ori_topk when ori_mask_mode is 0"));
    }
  }
  if (!rules.has_cmp) return Status::Ok();
  if (product_.planner_needs_cmp_lengths && LayoutKv() == Layout::kPaged) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kSequsedCmpKv, "with has_cmp_kv and layout_kv PA_BBND"));
  }
  if (LayoutKv() == Layout::kTnd) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensCmpKv, "with has_cmp_kv and layout_kv TND"));
  }
  if (rules.uses_residual()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(
        kCmpResidualKv, "with has_cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1"));
  }
  if (rules.cmp_topk > 0 && rules.cmp_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        table_.Require(kCmpTopkLength, "with a positive cmp_topk when cmp_mask_mode is 0"));
  }
  return Status::Ok();
}

// B from the most telling source: the prefix sums of the queries, batch_size, a seqused tensor.
Status Checker::FindBatch() {
  AxisTable& axes = table_.axes();
  if (IsTndQuery()) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kCuSeqlensQ, {Axis::kBPlus1}));
    FixBatch(&axes, axes.Of(Axis::kBPlus1) - 1, "(B from cu_seqlens_q)");
  } else if (args_.batch_size > 0) {
    FixBatch(&axes, args_.batch_size, "(B from batch_size)");
  } else {
    const std::pair<Slot, const char*> sources[] = {{kSequsedQ, "(B from seqused_q)"},
                                                    {kSequsedOriKv, "(B from seqused_ori_kv)"},
                                                    {kSequsedCmpKv, "(B from seqused_cmp_kv)"}};
    for (const auto& [slot, source] : sources) {
      if (!table_.Used(slot) || axes.Of(Axis::kB) > 0) continue;
      SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kB}));
      FixBatch(&axes, axes.Of(Axis::kB), source);
    }
  }
  problem_.batch = axes.Of(Axis::kB);
  if (problem_.batch == 0 && !IsTndQuery()) {
    return Refuse(
        "batch_size: 0, must be at least 1 with layout_q BSND when no seqused tensor "
        "tells the number of requests");
  }
  if (args_.batch_size > 0 && args_.batch_size != problem_.batch) {
    return Refuse(Str("batch_size: ", args_.batch_size, ", must be 0 or ", problem_.batch,
                      " as cu_seqlens_q says"));
  }
  return Status::Ok();
}

Status Checker::CheckTensors() {
  SFMLA_RETURN_IF_ERROR(table_.CheckHandles());
  axes().Fix(Axis::kN2, 1, "(one key/value head)");
  SFMLA_RETURN_IF_ERROR(FindBatch());
  if (!IsTndQuery() && args_.max_seqlen_q > 0) {
    axes().Fix(Axis::kS1, args_.max_seqlen_q, "as max_seqlen_q");
  }
  for (const Slot slot : {kCuSeqlensOriKv, kCuSeqlensCmpKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kBPlus1}));
  }
  for (const Slot slot : {kSequsedQ, kSequsedOriKv, kSequsedCmpKv, kCmpResidualKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kB}));
  }
  for (const Slot slot : {kOriTopkLength, kCmpTopkLength}) {
    SFMLA_RETURN_IF_ERROR(CheckRowLengths(&table_, slot, problem_.rules.layout_q));
  }
  SFMLA_RETURN_IF_ERROR(CheckPlanOutput(&table_, kMetadata));
  return table_.CheckUsedData();
}

// A length that no tensor gives must come from an attribute; where one gives it, the attribute is
// an upper bound at most, and only a batched layout knows it for sure.
Status Checker::SetExtents() {
  const auto extent_of = [](int64_t max_seqlen, bool bounded) {
    return bounded && max_seqlen > 0 ? std::min(max_seqlen, kUnknownExtent) : kUnknownExtent;
  };
  const auto needs = [](const char* name, const char* layout, const char* instead,
                        const char* cache = "") {
    return Refuse(Str(name, ": 0, must be at least 1 with ", layout, " BSND when ", instead,
                      " is absent", cache));
  };
  const AttentionRules& rules = problem_.rules;
  const bool batched_kv = LayoutKv() == Layout::kBsnd;
  if (!IsTndQuery() && !table_.Used(kSequsedQ)) {
    if (args_.max_seqlen_q == 0) return needs("max_seqlen_q", "layout_q", "seqused_q");
    SFMLA_RETURN_IF_ERROR(CheckPlannedRows(problem_.batch, args_.max_seqlen_q));
  }
  if (rules.has_ori && batched_kv && args_.max_seqlen_ori_kv == 0 && !table_.Used(kSequsedOriKv)) {
    return needs("max_seqlen_ori_kv", "layout_kv", "seqused_ori_kv", " and has_ori_kv true");
  }
  if (rules.has_cmp && batched_kv && args_.max_seqlen_cmp_kv == 0 && !table_.Used(kSequsedCmpKv)) {
    return needs("max_seqlen_cmp_kv", "layout_kv", "seqused_cmp_kv", " and has_cmp_kv true");
  }
  const int64_t rows_per_request = axes().Of(Axis::kS1);
  problem_.query_extent = extent_of(rows_per_request, !IsTndQuery());
  problem_.ori_extent = extent_of(args_.max_seqlen_ori_kv, batched_kv);
  problem_.cmp_extent = extent_of(args_.max_seqlen_cmp_kv, batched_kv);
  return Status::Ok();
}

Status Checker::Check() {
  SFMLA_RETURN_IF_ERROR(CheckScalars());
  SFMLA_RETURN_IF_ERROR(CheckAttributeValues());
  MarkUses();
  // Without any request even a required tensor has no elements.
  if (IsTndQuery() && table_.At(kCuSeqlensQ).desc.dims[0] == 1) table_.AllowEmpty();
  SFMLA_RETURN_IF_ERROR(CheckPresence());
  SFMLA_RETURN_IF_ERROR(CheckTensors());
  return SetExtents();
}

}  // namespace

Result<SparseFlashMlaMetadataProblem> CheckSparseFlashMlaMetadata(
    const SparseFlashMlaMetadataArgs& args, const ProductRules& product) {
  Checker checker(args, product);
  SFMLA_RETURN_IF_ERROR(checker.Check());
  return checker.problem();
}

}  // namespace sfmla
