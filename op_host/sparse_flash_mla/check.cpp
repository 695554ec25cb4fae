// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/check.h"

#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_host/common/operand_table.h"
#include "op_host/sparse_flash_mla/product_check.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {
namespace {

using namespace smla_operand;

class Checker {
 public:
  Checker(const SparseFlashMlaArgs& args, const ProductRules& product)
      : args_(args), product_(product), table_(args_.operands, problem_.uses) {}

  Result<SparseFlashMlaProblem> Run();

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }
  AxisTable& axes() { return table_.axes(); }
  bool IsPaged() const { return problem_.rules.layout_kv == Layout::kPaged; }
  bool IsPacked() const { return problem_.rules.layout_kv == Layout::kTnd; }

  Status CheckPointers() const;
  Status CheckAttributeValues();
  Status CheckQuery();
  Status CheckPresence() const;
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

Status Checker::CheckAttributeValues() {
  const Result<float> scale = CheckScale("softmax_scale", args_.softmax_scale);
  if (!scale.ok()) return scale.status();
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
  problem_.softmax_scale = scale.value();
  problem_.return_softmax_lse = args_.return_softmax_lse;
  return Status::Ok();
}

Status Checker::CheckQuery() {
  axes().Fix(Axis::kMetadataWords, kMetadataWords,
             "(the words aclnnSparseFlashMlaMetadata writes)");
  SFMLA_RETURN_IF_ERROR(CheckQueries(&table_, kQ, kSharedKvHeadDim, &problem_));
  return CheckQuerySums(&table_, kCuSeqlensQ, &problem_);
}

Status Checker::CheckPresence() const {
  const AttentionRules& rules = problem_.rules;
  if (At(kOriKv).absent() && problem_.query_rows > 0) {
    return Refuse("ori_kv: zero elements, must hold at least one token");
  }
  SFMLA_RETURN_IF_ERROR(table_.Require(kSinks, "(one FLOAT per query head)"));
  if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kOriBlockTable, "with layout_kv PA_BBND"));
    if (rules.ori_topk == 0) {
      SFMLA_RETURN_IF_ERROR(
          table_.Require(kSequsedOriKv, "with layout_kv PA_BBND unless ori_sparse_indices are"));
    }
  }
  if (IsPacked()) SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensOriKv, "with layout_kv TND"));
  if (rules.ori_topk > 0 && rules.ori_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        table_.Require(kOriTopkLength, "with ori_sparse_indices when ori_mask_mode is 0"));
  }
  if (!rules.has_cmp) return Status::Ok();
  if (IsPaged()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kCmpBlockTable, "with cmp_kv and layout_kv PA_BBND"));
  }
  if (IsPacked())
    SFMLA_RETURN_IF_ERROR(table_.Require(kCuSeqlensCmpKv, "with cmp_kv and layout_kv TND"));
  if (rules.uses_residual()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(
        kCmpResidualKv, "with cmp_kv when cmp_mask_mode is 3 and cmp_ratio is not 1"));
  }
  if (rules.cmp_topk > 0 && rules.cmp_mask == MaskMode::kNone) {
    SFMLA_RETURN_IF_ERROR(
        table_.Require(kCmpTopkLength, "with cmp_sparse_indices when cmp_mask_mode is 0"));
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
  const Layout layout_q = problem_.rules.layout_q;
  SFMLA_RETURN_IF_ERROR(CheckRowIntegers(&table_, kOriSparseIndices, layout_q, Axis::kK1));
  SFMLA_RETURN_IF_ERROR(CheckRowIntegers(&table_, kCmpSparseIndices, layout_q, Axis::kK2));
  SFMLA_RETURN_IF_ERROR(CheckRowLengths(&table_, kOriTopkLength, layout_q));
  return CheckRowLengths(&table_, kCmpTopkLength, layout_q);
}

Result<SparseFlashMlaProblem> Checker::Run() {
  const auto check = [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(CheckPointers());
    SFMLA_RETURN_IF_ERROR(CheckAttributeValues());
    SFMLA_RETURN_IF_ERROR(CheckQuery());
    SFMLA_RETURN_IF_ERROR(CheckPresence());
    MarkUses();
    SFMLA_RETURN_IF_ERROR(CheckIntegers());
    SFMLA_RETURN_IF_ERROR(
        CheckCaches(&table_, {kQ, kOriKv, kOriBlockTable, kCmpKv, kCmpBlockTable}, &problem_));
    SFMLA_RETURN_IF_ERROR(CheckSinksAndOutputs(&table_, {kQ, kSinks, kAttnOut, kSoftmaxLse},
                                               StatisticsAxes(problem_.rules.layout_q), problem_));
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
