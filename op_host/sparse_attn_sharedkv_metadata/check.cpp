// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv_metadata/check.h"

#include <algorithm>

#include "base/format.h"
#include "op_host/common/operand_table.h"
#include "op_host/common/planner_checks.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/common/schedule.h"

namespace sfmla {
namespace {

using namespace sharedkv_metadata_operand;

class Checker {
 public:
  explicit Checker(const SparseAttnSharedkvMetadataArgs& args)
      : args_(args), table_(args_.operands, problem_.uses) {}

  Status Check(const ProductRules& product);
  const SparseAttnSharedkvMetadataProblem& problem() const { return problem_; }

 private:
  const AttentionRules& rules() const { return problem_.rules; }
  bool IsTndQuery() const { return rules().layout_q == Layout::kTnd; }
  bool IsPacked() const { return rules().layout_kv == Layout::kTnd; }

  Status CheckScalars() const;
  Status CheckAttributeValues(const ProductRules& product);
  void MarkUses();
  Status CheckPresence();
  Status FindBatch();
  Status CheckTensors();
  Status SetExtents();

  const SparseAttnSharedkvMetadataArgs& args_;
  SparseAttnSharedkvMetadataProblem problem_;
  OperandTable table_;
};

Status Checker::CheckScalars() const {
  // The planner keeps something for each request.
  SFMLA_RETURN_IF_ERROR(CheckCount("batch_size", args_.batch_size, kMaxPlannedRows));
  SFMLA_RETURN_IF_ERROR(CheckMaximum("max_seqlen_q", args_.max_seqlen_q));
  if (args_.has_cmp_kv) SFMLA_RETURN_IF_ERROR(CheckCount("cmp_topk", args_.cmp_topk));
  return CheckPlannedHeads(args_);
}

Status Checker::CheckAttributeValues(const ProductRules& product) {
  SFMLA_RETURN_IF_ERROR(CheckLimitedWindow(args_.attributes));
  PlannerArgs args = args_;
  args.attributes.cmp_mask_mode = 3;  // the only one; what is given is not looked at
  SFMLA_RETURN_IF_ERROR(SetPlannedRules(
      args, {.has_cmp = args.has_cmp_kv, .cmp_topk = args.cmp_topk}, kSharedKvLayouts, &problem_));
  return CheckSharedKvProductAttributes(product, ProductCheck::kPlanner, args_.attributes,
                                        problem_.rules);
}

void Checker::MarkUses() {
  if (IsTndQuery()) table_.Use(kCuSeqlensQ);
  table_.Use(kSequsedQ);
  table_.Use(kSequsedKv);
  if (IsPacked()) table_.Use(kCuSeqlensOriKv);
  if (IsPacked() && rules().has_cmp) table_.Use(kCuSeqlensCmpKv);
}

Status Checker::CheckPresence() {
  if (IsTndQuery()) SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensQ, "with layout_q TND"));
  const bool no_requests = IsTndQuery() ? table_.At(kCuSeqlensQ).desc.dims[0] == 1
                                        : args_.batch_size == 0 && !table_.Used(kSequsedQ);
  if (no_requests) table_.AllowEmpty();
  if (rules().layout_kv == Layout::kPaged) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kSequsedKv, "with layout_kv PA_ND"));
  }
  if (!IsPacked()) return Status::Ok();
  SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensOriKv, "with layout_kv TND"));
  if (!rules().has_cmp) return Status::Ok();
  return table_.Require(kCuSeqlensCmpKv, "with has_cmp_kv and layout_kv TND");
}

// B from the most telling source on the side of the queries; that of the caches says the same.
Status Checker::FindBatch() {
  AxisTable& axes = table_.axes();
  if (table_.Used(kSequsedQ)) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kSequsedQ, {Axis::kB}));
    FixBatch(&axes, axes.Of(Axis::kB), "(B from seqused_q)");
  } else if (IsTndQuery()) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kCuSeqlensQ, {Axis::kBPlus1}));
    FixBatch(&axes, axes.Of(Axis::kBPlus1) - 1, "(B from cu_seqlens_q)");
  } else {
    FixBatch(&axes, args_.batch_size, "(B from batch_size)");
  }
  problem_.batch = axes.Of(Axis::kB);
  if (table_.Used(kSequsedKv) || IsPacked() || args_.batch_size == problem_.batch) {
    return Status::Ok();
  }
  return Refuse(Str("batch_size: ", args_.batch_size, ", must be ", problem_.batch, " as in ",
                    table_.Used(kSequsedQ) ? "seqused_q" : "cu_seqlens_q, its elements less 1"));
}

Status Checker::CheckTensors() {
  SFMLA_RETURN_IF_ERROR(FindBatch());
  for (const Slot slot : {kCuSeqlensQ, kCuSeqlensOriKv, kCuSeqlensCmpKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kBPlus1}));
  }
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kSequsedKv, {Axis::kB}));
  SFMLA_RETURN_IF_ERROR(CheckPlanOutput(&table_, kMetadata));
  return table_.CheckUsedData();
}

// A maximum is the length where no tensor gives one, and else not looked at.
Status Checker::SetExtents() {
  problem_.query_extent = kUnknownExtent;
  problem_.ori_extent = kUnknownExtent;
  if (!IsTndQuery() && !table_.Used(kSequsedQ)) {
    SFMLA_RETURN_IF_ERROR(CheckPlannedRows(problem_.batch, args_.max_seqlen_q));
    problem_.query_extent = args_.max_seqlen_q;
  }
  if (!IsPacked() && !table_.Used(kSequsedKv)) {
    SFMLA_RETURN_IF_ERROR(CheckMaximum("max_seqlen_kv", args_.max_seqlen_kv));
    problem_.ori_extent = std::min(args_.max_seqlen_kv, kUnknownExtent);
  }
  return Status::Ok();
}

Status Checker::Check(const ProductRules& product) {
  SFMLA_RETURN_IF_ERROR(table_.CheckHandles());
  SFMLA_RETURN_IF_ERROR(CheckScalars());
  SFMLA_RETURN_IF_ERROR(CheckAttributeValues(product));
  MarkUses();
  SFMLA_RETURN_IF_ERROR(CheckPresence());
  SFMLA_RETURN_IF_ERROR(CheckTensors());
  return SetExtents();
}

}  // namespace

Result<SparseAttnSharedkvMetadataProblem> CheckSparseAttnSharedkvMetadata(
    const SparseAttnSharedkvMetadataArgs& args, const ProductRules& product) {
  Checker checker(args);
  SFMLA_RETURN_IF_ERROR(checker.Check(product));
  return checker.problem();
}

}  // namespace sfmla
