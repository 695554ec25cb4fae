// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/check.h"

#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_host/common/operand_table.h"
#include "op_host/common/shared_kv_checks.h"
#include "op_host/sparse_flash_mla/product_check.h"

namespace sfmla {
namespace {

using namespace smla_operand;

constexpr SharedKvSlots kSlots = {
    {kOriKv, kOriBlockTable, kCuSeqlensOriKv, "with layout_kv PA_BBND", "with layout_kv TND"},
    {kCmpKv, kCmpBlockTable, kCuSeqlensCmpKv, "with cmp_kv and layout_kv PA_BBND",
     "with cmp_kv and layout_kv TND"},
    kQ,
    kCuSeqlensQ,
    kCmpSparseIndices,
    kSinks,
    kMetadata,
    kAttnOut,
    kSoftmaxLse,
    "(the words aclnnSparseFlashMlaMetadata writes)"};

class Checker {
 public:
  Checker(const SparseFlashMlaArgs& args, const ProductRules& product)
      : args_(args), product_(product), table_(args_.operands, problem_.uses) {}

  Status Check();
  const SparseFlashMlaProblem& problem() const { return problem_; }

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }

  Status CheckPointers() const;
  Result<AttentionParts> FindParts() const;
  Status CheckPresence() const;
  Status CheckCompressedPresence() const;
  void MarkUses();
  Status CheckIntegers();

  const SparseFlashMlaArgs& args_;
  const ProductRules& product_;
  SparseFlashMlaProblem problem_;
  OperandTable table_;
};

Status Checker::CheckPointers() const {
  SFMLA_RETURN_IF_ERROR(table_.CheckHandles({kQ, kOriKv, kMetadata, kAttnOut}));
  if (args_.return_softmax_lse && At(kSoftmaxLse).handle == nullptr) {
    return Status(code::kAclnnParamNullptr,
                  "softmax_lse: NULL, must be a tensor when return_softmax_lse is true");
  }
  return Status::Ok();
}

Result<AttentionParts> Checker::FindParts() const {
  if (args_.topk_value_mode != 1) {
    return Refuse(Str("topk_value_mode: ", args_.topk_value_mode, ", must be 1"));
  }
  AttentionParts out;
  out.has_cmp = At(kCmpKv).present();
  const Result<int64_t> ori_topk = ListWidth(At(kOriSparseIndices));
  if (!ori_topk.ok()) return ori_topk.status();
  const Result<int64_t> cmp_topk = CompressedListWidth(table_, kSlots, out.has_cmp);
  if (!cmp_topk.ok()) return cmp_topk.status();
  out.cmp_topk = cmp_topk.value();
  const bool ignored = product_.ori_sparse_dense_ignored && out.has_cmp && out.cmp_topk == 0;
  out.ori_topk = ignored ? 0 : ori_topk.value();
  return out;
}

Status Checker::CheckPresence() const {
  const AttentionRules& rules = problem_.rules;
  SFMLA_RETURN_IF_ERROR(table_.Require(kSinks, "(one FLOAT per query head)"));
  SFMLA_RETURN_IF_ERROR(RequireCacheIndex(table_, kSlots.ori, rules.layout_kv));
  if (rules.layout_kv == Layout::kPaged && rules.ori_topk == 0) {
    SFMLA_RETURN_IF_ERROR(
        table_.Require(kSequsedOriKv, "with layout_kv PA_BBND unless ori_sparse_indices are"));
  }
  if (rules.ori_topk > 0 && rules.ori_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        table_.Require(kOriTopkLength, "with ori_sparse_indices when ori_mask_mode is 0"));
  }
  return rules.has_cmp ? CheckCompressedPresence() : Status::Ok();
}

Status Checker::CheckCompressedPresence() const {
  const AttentionRules& rules = problem_.rules;
  SFMLA_RETURN_IF_ERROR(RequireCacheIndex(table_, kSlots.cmp, rules.layout_kv));
  if (rules.uses_residual()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(
        kCmpResidualKv, "with cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1"));
  }
  if (rules.cmp_topk > 0 && rules.cmp_mask == MaskMode::kNone) {
    return table_.Require(kCmpTopkLength, "with cmp_sparse_indices when cmp_mask_mode is 0");
  }
  return Status::Ok();
}

// Which of the given tensors mean something in this mode; the rest is ignored.
void Checker::MarkUses() {
  const AttentionRules& rules = problem_.rules;
  UseSharedKvTensors(&table_, kSlots, problem_);
  table_.Use(kSequsedQ);
  table_.Use(kSequsedOriKv);
  if (rules.ori_topk > 0) {
    table_.Use(kOriSparseIndices);
    table_.Use(kOriTopkLength);
  }
  if (!rules.has_cmp) return;
  table_.Use(kSequsedCmpKv);
  if (rules.uses_residual()) table_.Use(kCmpResidualKv);
  if (rules.cmp_topk > 0) table_.Use(kCmpTopkLength);
}

Status Checker::CheckIntegers() {
  for (const Slot slot : {kSequsedQ, kSequsedOriKv, kSequsedCmpKv, kCmpResidualKv}) {
    SFMLA_RETURN_IF_ERROR(table_.CheckInt32(slot, {Axis::kB}));
  }
  const Layout layout_q = problem_.rules.layout_q;
  SFMLA_RETURN_IF_ERROR(CheckRowIntegers(&table_, kOriSparseIndices, layout_q, Axis::kK1));
  SFMLA_RETURN_IF_ERROR(CheckRowLengths(&table_, kOriTopkLength, layout_q));
  return CheckRowLengths(&table_, kCmpTopkLength, layout_q);
}

Status Checker::Check() {
  SFMLA_RETURN_IF_ERROR(CheckPointers());
  const Result<AttentionParts> parts = FindParts();
  if (!parts.ok()) return parts.status();
  SFMLA_RETURN_IF_ERROR(CheckSharedKvAttributes(args_, parts.value(), {}, &problem_));
  SFMLA_RETURN_IF_ERROR(CheckSharedKvQuery(&table_, kSlots, &problem_));
  SFMLA_RETURN_IF_ERROR(CheckPresence());
  MarkUses();
  SFMLA_RETURN_IF_ERROR(CheckIntegers());
  SFMLA_RETURN_IF_ERROR(
      CheckSharedKvTensors(&table_, kSlots, StatisticsAxes(problem_.rules.layout_q), &problem_));
  SFMLA_RETURN_IF_ERROR(CheckProduct(product_, args_, problem_));
  return table_.CheckUsedData();
}

}  // namespace

Result<SparseFlashMlaProblem> CheckSparseFlashMla(const SparseFlashMlaArgs& args,
                                                  const ProductRules& product) {
  Checker checker(args, product);
  SFMLA_RETURN_IF_ERROR(checker.Check());
  return checker.problem();
}

}  // namespace sfmla
