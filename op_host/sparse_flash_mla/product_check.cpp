// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/product_check.h"

#include "base/format.h"

namespace sfmla {
namespace {

using namespace smla_operand;

struct Call {
  const ProductRules& product;
  const SparseFlashMlaArgs& args;
  const SparseFlashMlaProblem& problem;

  const AttentionRules& rules() const { return problem.rules; }
  Status Refuse(const std::string& text) const { return RefuseFor(product, text); }
};

Status CheckCompressedLengths(const Call& call) {
  const AttentionRules& rules = call.rules();
  if (!call.product.cmp_topk_length && call.args.at(kCmpTopkLength).present()) {
    return call.Refuse("cmp_topk_length: given, must be absent");
  }
  if (call.product.paged_needs_cmp_lengths && rules.has_cmp && rules.layout_kv == Layout::kPaged &&
      call.args.at(kSequsedCmpKv).absent() && call.args.at(kCmpTopkLength).absent()) {
    return call.Refuse(
        "seqused_cmp_kv: absent, must be given with a paged cmp_kv (or cmp_topk_length)");
  }
  return Status::Ok();
}

Status CheckSuperfluous(const Call& call) {
  // The product takes these and does nothing with them.
  const auto tolerated = [&](size_t slot) {
    const bool list = slot == kOriSparseIndices || slot == kOriTopkLength;
    return slot == kSoftmaxLse || (list && call.product.ori_sparse_dense_ignored &&
                                   call.rules().has_cmp && call.rules().cmp_topk == 0);
  };
  for (size_t slot = 0; slot < call.args.operands.size(); ++slot) {
    const OperandArg& operand = call.args.operands[slot];
    if (operand.handle != nullptr && !call.problem.uses[slot].used && !tolerated(slot)) {
      return call.Refuse(Str(operand.name, ": given, must be absent in mode ",
                             ModeName(call.rules()), " with layout_kv ",
                             kLayoutNames[static_cast<int>(call.rules().layout_kv)]));
    }
  }
  return Status::Ok();
}

}  // namespace

Status CheckProduct(const ProductRules& product, const SparseFlashMlaArgs& args,
                    const SparseFlashMlaProblem& problem) {
  const Call call{product, args, problem};
  SFMLA_RETURN_IF_ERROR(
      CheckProductAttributes(product, ProductCheck::kMainOperator, args.attributes, problem.rules));
  SFMLA_RETURN_IF_ERROR(CheckCompressedLengths(call));
  SFMLA_RETURN_IF_ERROR(
      CheckProductCache(product, args.at(kOriKv), problem.rules.layout_kv, problem.ori));
  if (problem.rules.has_cmp) {
    SFMLA_RETURN_IF_ERROR(
        CheckProductCache(product, args.at(kCmpKv), problem.rules.layout_kv, problem.cmp));
  }
  return product.superfluous_refused ? CheckSuperfluous(call) : Status::Ok();
}

}  // namespace sfmla
