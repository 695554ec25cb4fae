// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/product_rules.h"

#include <algorithm>
#include <cassert>

#include "base/format.h"
#include "base/settings.h"
#include "op_host/common/operand.h"

namespace sfmla {
namespace {

constexpr ProductRules kProducts[] = {
    {.name = "cpu",
     .heads_power_of_two = false,
     .window_127_0_only = false,
     .window_needs_mask_4 = false,
     .cmp_mask_causal_only = false,
     .ratio_by_mode = false,
     .swa_neutral_attributes = false,
     .ori_sparse_only_alone = false,
     .ori_sparse_dense_ignored = false,
     .cmp_topk_length = true,
     .superfluous_refused = false,
     .paged_needs_cmp_lengths = false,
     .planner_needs_cmp_lengths = false,
     .page_tokens_packed = false,
     .max_cmp_topk = INT32_MAX,
     .page_tokens_multiple = 1},
    {.name = "ascend910b",
     .heads_power_of_two = true,
     .window_127_0_only = true,
     .window_needs_mask_4 = false,
     .cmp_mask_causal_only = true,
     .ratio_by_mode = true,
     .swa_neutral_attributes = false,
     .ori_sparse_only_alone = true,
     .ori_sparse_dense_ignored = false,
     .cmp_topk_length = false,
     .superfluous_refused = false,
     .paged_needs_cmp_lengths = false,
     .planner_needs_cmp_lengths = true,
     .page_tokens_packed = true,
     .max_cmp_topk = 8192,
     .page_tokens_multiple = 16},
    {.name = "ascend950",
     .heads_power_of_two = false,
     .window_127_0_only = false,
     .window_needs_mask_4 = true,
     .cmp_mask_causal_only = false,
     .ratio_by_mode = false,
     .swa_neutral_attributes = true,
     .ori_sparse_only_alone = false,
     .ori_sparse_dense_ignored = true,
     .cmp_topk_length = true,
     .superfluous_refused = true,
     .paged_needs_cmp_lengths = true,
     .planner_needs_cmp_lengths = true,
     .page_tokens_packed = true,
     .max_cmp_topk = INT32_MAX,
     .page_tokens_multiple = 1},
};

Status CheckOriginalMask(const ProductRules& product, ProductCheck check,
                         const AttentionAttributes& given, const AttentionRules& rules) {
  const bool sparse = rules.ori_topk > 0;
  if (product.ori_sparse_only_alone && sparse) {
    if (rules.has_cmp) {
      return RefuseFor(product,
                       "ori_sparse_indices: given together with cmp_kv, must be used alone");
    }
    if (given.ori_mask_mode != 0) {
      return RefuseFor(product, Str("ori_mask_mode: ", given.ori_mask_mode,
                                    ", must be 0 with ori_sparse_indices"));
    }
    if (given.ori_win_left < 0 || given.ori_win_right < 0) {
      return RefuseFor(product,
                       Str("ori_win_left, ori_win_right: ", given.ori_win_left, ", ",
                           given.ori_win_right, ", must be at least 0 with ori_sparse_indices"));
    }
    return Status::Ok();
  }
  if (product.window_127_0_only &&
      (given.ori_mask_mode != 4 || given.ori_win_left != 127 || given.ori_win_right != 0)) {
    return RefuseFor(product,
                     Str("ori_mask_mode, ori_win_left, ori_win_right: ", given.ori_mask_mode, ", ",
                         given.ori_win_left, ", ", given.ori_win_right, ", must be 4, 127, 0"));
  }
  if (product.window_needs_mask_4 && check == ProductCheck::kMainOperator &&
      given.ori_mask_mode != 4 && (given.ori_win_left != -1 || given.ori_win_right != -1)) {
    return RefuseFor(
        product, Str("ori_win_left, ori_win_right: ", given.ori_win_left, ", ", given.ori_win_right,
                     ", must be -1, -1 unless ori_mask_mode is 4"));
  }
  return Status::Ok();
}

Status CheckRatio(const ProductRules& product, ProductCheck check, const AttentionAttributes& given,
                  const AttentionRules& rules) {
  const int64_t ratio = given.cmp_ratio;
  if (check == ProductCheck::kPlanner) {
    if (!rules.has_cmp || (rules.cmp_topk > 0 && (ratio == 1 || ratio == 2))) return Status::Ok();
  }
  const int64_t wanted = !rules.has_cmp ? 1 : rules.cmp_topk > 0 ? 4 : 128;
  if (ratio == wanted) return Status::Ok();
  return RefuseFor(product,
                   Str("cmp_ratio: ", ratio, ", must be ", wanted, " in mode ", ModeName(rules)));
}

Status CheckCompressed(const ProductRules& product, ProductCheck check,
                       const AttentionAttributes& given, const AttentionRules& rules) {
  if (product.cmp_mask_causal_only && rules.has_cmp && given.cmp_mask_mode != 3) {
    return RefuseFor(product,
                     Str("cmp_mask_mode: ", given.cmp_mask_mode, ", must be 3 with cmp_kv"));
  }
  if (product.swa_neutral_attributes && check == ProductCheck::kMainOperator && !rules.has_cmp &&
      (given.cmp_mask_mode != 0 || given.cmp_ratio != 1)) {
    return RefuseFor(product, Str("cmp_mask_mode, cmp_ratio: ", given.cmp_mask_mode, ", ",
                                  given.cmp_ratio, ", must be 0, 1 without cmp_kv"));
  }
  if (product.ratio_by_mode) SFMLA_RETURN_IF_ERROR(CheckRatio(product, check, given, rules));
  if (rules.cmp_topk > product.max_cmp_topk) {
    return RefuseFor(product, Str("cmp_topk (last axis of cmp_sparse_indices): ", rules.cmp_topk,
                                  ", must be at most ", product.max_cmp_topk));
  }
  return Status::Ok();
}

}  // namespace

std::span<const ProductRules> AllProductRules() { return kProducts; }

Result<const ProductRules*> ProcessProductRules() {
  const Result<Settings>& settings = ProcessSettings();
  if (!settings.ok()) return settings.status();
  const auto* row = std::find_if(std::begin(kProducts), std::end(kProducts),
                                 [&](const auto& it) { return it.name == settings->rules; });
  assert(row != std::end(kProducts));  // settings.cpp accepts only the names of base/settings.h
  return row;
}

Status RefuseFor(const ProductRules& product, const std::string& text) {
  return Refuse(Str(text, " (rules of ", product.name, ")"));
}

Status CheckProductAttributes(const ProductRules& product, ProductCheck check,
                              const AttentionAttributes& given, const AttentionRules& rules) {
  if (product.heads_power_of_two && (rules.heads & (rules.heads - 1)) != 0) {
    return RefuseFor(product, Str("query heads N1: ", rules.heads, ", must be a power of two"));
  }
  if (rules.has_ori) SFMLA_RETURN_IF_ERROR(CheckOriginalMask(product, check, given, rules));
  return CheckCompressed(product, check, given, rules);
}

}  // namespace sfmla
