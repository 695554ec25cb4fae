// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_attn_sharedkv/product_check.h"

namespace sfmla {

Status CheckSharedKvProduct(const ProductRules& product, const SparseAttnSharedkvArgs& args,
                            const SparseAttnSharedkvProblem& problem) {
  using namespace sharedkv_operand;
  const AttentionRules& rules = problem.rules;
  SFMLA_RETURN_IF_ERROR(
      CheckSharedKvProductAttributes(product, ProductCheck::kMainOperator, args.attributes, rules));
  if (product.shared_kv.empty_refused && (problem.batch == 0 || problem.query_rows == 0)) {
    return RefuseFor(product, "q: no requests or no rows, must have at least one of each");
  }
  if (product.shared_kv.packed_seqused_q_refused && rules.layout_q == Layout::kTnd &&
      problem.uses[kSequsedQ].used) {
    return RefuseFor(product, "seqused_q: given with layout_q TND, must be absent");
  }
  SFMLA_RETURN_IF_ERROR(
      CheckProductCache(product, problem.operands[kOriKv], rules.layout_kv, problem.ori));
  if (!rules.has_cmp) return Status::Ok();
  return CheckProductCache(product, problem.operands[kCmpKv], rules.layout_kv, problem.cmp);
}

}  // namespace sfmla
