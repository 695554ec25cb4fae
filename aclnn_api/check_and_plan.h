// SPDX-License-Identifier: Apache-2.0
// Phase one of an operator between its C arguments and its executor.
#pragma once

#include "base/status.h"
#include "op_host/common/attention_tiling.h"
#include "op_host/common/product_rules.h"

namespace sfmla {

// `plan(args, problem, target...)` of what `check(args, product)` understood, under the rules of
// this process.
template <typename Args, typename Check, typename Plan, typename... Target>
Result<Launch> CheckAndPlan(const Args& args, const Check& check, const Plan& plan,
                            const Target&... target) {
  const Result<const ProductRules*> product = ProcessProductRules();
  if (!product.ok()) return product.status();
  const auto problem = check(args, *product.value());
  if (!problem.ok()) return problem.status();
  return plan(args, problem.value(), target...);
}

// The same for operators that run the attention kernel: `plan(args, problem, target)`.
template <typename Args, typename Check, typename Plan>
Result<Launch> CheckAndPlanAttention(const Args& args, const Check& check, const Plan& plan) {
  const Result<AttentionTarget> target = ProcessAttentionTarget();
  if (!target.ok()) return target.status();
  return CheckAndPlan(args, check, plan, target.value());
}

}  // namespace sfmla
