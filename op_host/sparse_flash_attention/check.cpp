// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_attention/check.h"

#include "base/checked_math.h"
#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_host/common/operand_table.h"
#include "op_host/sparse_flash_attention/product_check.h"

namespace sfmla {
namespace {

using namespace sparse_flash_operand;

constexpr int64_t kMaxSparseBlock = 128;  // tokens
constexpr LayoutNames kLayouts = {.q = "layout_query", .paged = "PA_BSND"};
constexpr const char* kLatentDim = "(the part without rotary embedding)";

class Checker {
 public:
  explicit Checker(const SparseFlashAttentionArgs& args)
      : args_(args), seen_(args.operands), table_(seen_, problem_.uses, code::kAclnnParamNullptr) {}

  Status Check(const ProductRules& product);
  const SparseFlashAttentionProblem& problem() const { return problem_; }

 private:
  const OperandArg& At(Slot slot) const { return table_.At(slot); }
  AttentionRules& rules() { return problem_.rules; }
  bool IsPaged() const { return problem_.rules.layout_kv == Layout::kPaged; }
  bool IsPackedQuery() const { return problem_.rules.layout_q == Layout::kTnd; }
  bool IsPackedKv() const { return problem_.rules.layout_kv == Layout::kTnd; }

  Status CheckPointers() const;
  Status CheckModes() const;
  Status CheckAttributeValues();
  Status CheckQuery();
  Status CheckPresence() const;
  void MarkUses();
  void UseCache(Slot slot, int64_t width);
  Status CheckIntegers();
  Status CheckKvTensor(Slot slot, Axis width, CacheGeometry* geometry);
  Status CheckKv();
  Status CheckSinksAndOutputs();

  const SparseFlashAttentionArgs& args_;
  SparseFlashAttentionProblem problem_;
  // As the kernel sees them: a cache that is copied first has the strides of the copy.
  std::array<OperandArg, kCount> seen_;
  OperandTable table_;
};

Status Checker::CheckPointers() const {
  SFMLA_RETURN_IF_ERROR(
      table_.CheckHandles({kQuery, kKey, kSparseIndices, kQueryRope, kKeyRope, kAttentionOut}));
  if (!args_.return_softmax_lse) return Status::Ok();
  for (const Slot slot : {kSoftmaxMax, kSoftmaxSum}) {
    if (At(slot).handle == nullptr) {
      return Status(code::kAclnnParamNullptr,
                    Str(At(slot).name, ": NULL, must be a tensor when return_softmax_lse is true"));
    }
  }
  return Status::Ok();
}

Status Checker::CheckModes() const {
  const int64_t block = args_.sparse_block_size;
  if (block < 1 || block > kMaxSparseBlock || (block & (block - 1)) != 0) {
    return Refuse(Str("sparse_block_size: ", block, ", must be a power of two in [1, ",
                      kMaxSparseBlock, "]"));
  }
  if (args_.sparse_mode != 0 && args_.sparse_mode != 3) {
    return Refuse(Str("sparse_mode: ", args_.sparse_mode, ", must be 0 (no mask) or 3 (causal)"));
  }
  if (args_.attention_mode != 2) {
    return Refuse(Str("attention_mode: ", args_.attention_mode,
                      ", must be 2 (the rotary part in tensors of its own)"));
  }
  const auto check_unlimited = [](const char* name, int64_t tokens) {
    if (tokens == INT64_MAX) return Status::Ok();
    return Refuse(Str(name, ": ", tokens, ", must be ", INT64_MAX, " (unlimited)"));
  };
  SFMLA_RETURN_IF_ERROR(check_unlimited("pre_tokens", args_.pre_tokens));
  return check_unlimited("next_tokens", args_.next_tokens);
}

Status Checker::CheckAttributeValues() {
  const Result<float> scale = CheckScale("scale_value", args_.scale_value);
  if (!scale.ok()) return scale.status();
  SFMLA_RETURN_IF_ERROR(CheckModes());
  const Result<Layout> layout_q = ParseLayoutQ(args_.layout_query, kLayouts);
  if (!layout_q.ok()) return layout_q.status();
  const Result<Layout> layout_kv = ParseLayoutKv(args_.layout_kv, layout_q.value(), kLayouts);
  if (!layout_kv.ok()) return layout_kv.status();
  const Result<int64_t> entries = ListWidth(At(kSparseIndices));
  if (!entries.ok()) return entries.status();

  rules().layout_q = layout_q.value();
  rules().layout_kv = layout_kv.value();
  rules().has_ori = true;
  rules().has_rope = true;
  rules().ori_mask = static_cast<MaskMode>(args_.sparse_mode);
  rules().ori_topk = entries.value();
  rules().ori_list_block = static_cast<int32_t>(args_.sparse_block_size);
  problem_.softmax_scale = scale.value();
  problem_.return_softmax_lse = args_.return_softmax_lse;
  return Status::Ok();
}

Status Checker::CheckQuery() {
  AxisTable& axes = table_.axes();
  axes.Fix(Axis::kRopeD, kRopeDim, "(the rotary part)");
  SFMLA_RETURN_IF_ERROR(CheckQueries(&table_, kQuery, kLatentDim, &problem_));
  const OperandArg& rope = At(kQueryRope);
  SFMLA_RETURN_IF_ERROR(CheckDtype(rope, At(kQuery).desc.dtype, " as query"));
  SFMLA_RETURN_IF_ERROR(IsPackedQuery()
                            ? axes.Bind(rope, {Axis::kT1, Axis::kN1, Axis::kRopeD})
                            : axes.Bind(rope, {Axis::kB, Axis::kS1, Axis::kN1, Axis::kRopeD}));
  if (IsPackedQuery()) {
    SFMLA_RETURN_IF_ERROR(table_.Require(kActualSeqLengthsQuery, "with layout_query TND"));
  }
  table_.Use(kActualSeqLengthsQuery);
  // With packed queries this is what says how many requests there are.
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kActualSeqLengthsQuery, {Axis::kB}));
  SetQueryExtents(&table_, &problem_);
  return Status::Ok();
}

Status Checker::CheckPresence() const {
  SFMLA_RETURN_IF_ERROR(table_.Require(kSparseIndices, "(one list for each query row)"));
  if (!IsPaged() && At(kBlockTable).present()) {
    return Refuse("block_table: given, must be absent unless layout_kv is PA_BSND");
  }
  if (IsPaged()) SFMLA_RETURN_IF_ERROR(table_.Require(kBlockTable, "with layout_kv PA_BSND"));
  if (!IsPaged() && !IsPackedKv()) return Status::Ok();
  return table_.Require(kActualSeqLengthsKv,
                        IsPaged() ? "with layout_kv PA_BSND" : "with layout_kv TND");
}

// Strides that kernels follow are used as they are; others are those of a contiguous copy.
void Checker::UseCache(Slot slot, int64_t width) {
  TensorDesc& desc = seen_[slot].desc;
  const auto rank = static_cast<size_t>(desc.rank);
  const bool tokens_fit = rank != 4 || desc.dims[1] <= 1 || desc.strides[1] >= width;
  const bool follows =
      rank >= 3 && rank <= 4 && desc.strides[rank - 1] == 1 && desc.strides[0] >= 0 && tokens_fit;
  table_.Use(slot, follows);
  if (follows || rank > kMaxOperandRank) return;
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    desc.strides[axis] = stride;
    stride = CheckedMul(stride, desc.dims[axis]).value_or(INT64_MAX);
  }
}

// Which of the given tensors mean something in this mode; the rest is ignored.
void Checker::MarkUses() {
  for (const Slot slot : {kQuery, kQueryRope, kSparseIndices, kActualSeqLengthsKv, kSinks}) {
    table_.Use(slot);
  }
  UseCache(kKey, kHeadDim);
  UseCache(kValue, kHeadDim);
  UseCache(kKeyRope, kRopeDim);
  if (IsPaged()) table_.Use(kBlockTable);
  table_.UseOutput(kAttentionOut, true);
  table_.UseOutput(kSoftmaxMax, args_.return_softmax_lse);
  table_.UseOutput(kSoftmaxSum, args_.return_softmax_lse);
}

Status Checker::CheckIntegers() {
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kActualSeqLengthsKv, {Axis::kB}));
  SFMLA_RETURN_IF_ERROR(table_.CheckInt32(kBlockTable, {Axis::kB, Axis::kOriColumns}));
  return CheckRowIntegers(&table_, kSparseIndices, rules().layout_q, Axis::kK);
}

Status Checker::CheckKvTensor(Slot slot, Axis width, CacheGeometry* geometry) {
  SFMLA_RETURN_IF_ERROR(CheckDtype(At(slot), At(kQuery).desc.dtype, " as query"));
  CacheOperand cache;
  cache.slot = slot;
  cache.block_table_slot = kBlockTable;
  cache.width = width;
  return CheckCache(&table_, cache, rules().layout_kv, geometry);
}

Status Checker::CheckKv() {
  SFMLA_RETURN_IF_ERROR(CheckKvTensor(kKey, Axis::kD, &problem_.ori));
  SFMLA_RETURN_IF_ERROR(CheckKvTensor(kKeyRope, Axis::kRopeD, &problem_.ori_rope));
  if (At(kValue).absent()) return Status::Ok();
  return CheckKvTensor(kValue, Axis::kD, &problem_.ori_value);
}

Status Checker::CheckSinksAndOutputs() {
  const Layout layout_q = rules().layout_q;
  if (At(kSinks).present()) SFMLA_RETURN_IF_ERROR(CheckSinks(&table_, kSinks));
  SFMLA_RETURN_IF_ERROR(
      CheckOutput(&table_, kAttentionOut, At(kQuery).desc.dtype, " as query", QueryAxes(layout_q)));
  if (!args_.return_softmax_lse) return Status::Ok();
  for (const Slot slot : {kSoftmaxMax, kSoftmaxSum}) {
    SFMLA_RETURN_IF_ERROR(CheckOutput(&table_, slot, ACL_FLOAT, "", StatisticsAxes(layout_q)));
  }
  return Status::Ok();
}

Status Checker::Check(const ProductRules& product) {
  SFMLA_RETURN_IF_ERROR(CheckPointers());
  SFMLA_RETURN_IF_ERROR(CheckAttributeValues());
  SFMLA_RETURN_IF_ERROR(CheckQuery());
  SFMLA_RETURN_IF_ERROR(CheckPresence());
  MarkUses();
  SFMLA_RETURN_IF_ERROR(CheckIntegers());
  SFMLA_RETURN_IF_ERROR(CheckKv());
  SFMLA_RETURN_IF_ERROR(CheckSinksAndOutputs());
  SFMLA_RETURN_IF_ERROR(CheckSparseFlashProduct(product, args_, problem_));
  // Of the caller's own operands: in table_ those that will be copied have contiguous strides.
  return OperandTable(args_.operands, problem_.uses).CheckUsedData();
}

}  // namespace

Result<SparseFlashAttentionProblem> CheckSparseFlashAttention(const SparseFlashAttentionArgs& args,
                                                              const ProductRules& product) {
  Checker checker(args);
  SFMLA_RETURN_IF_ERROR(checker.Check(product));
  return checker.problem();
}

}  // namespace sfmla
