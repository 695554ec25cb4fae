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
     .page_tokens_multiple = 1,
     .shared_kv = {.offered = true,
                   .window_127_0_only = false,
                   .ratio_4_or_128_only = false,
                   .topk_512_or_1024_only = false,
                   .cmp_mask_causal_always = false,
                   .packed_seqused_q_refused = false,
                   .empty_refused = false,
                   .heads_multiple = 1},
     .sparse_flash = {.narrows = false,
                      .sinks = true,
                      .statistics_without_pages_only = false,
                      .empty_batch_refused = false,
                      .empty_refused = false,
                      .max_sparse_block = 128,
                      .page_tokens_multiple = 1}},
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
     .page_tokens_multiple = 16,
     .shared_kv = {.offered = true,
                   .window_127_0_only = true,
                   .ratio_4_or_128_only = true,
                   .topk_512_or_1024_only = true,
                   .cmp_mask_causal_always = true,
                   .packed_seqused_q_refused = true,
                   .empty_refused = true,
                   .heads_multiple = 4},
     .sparse_flash = {.narrows = true,
                      .sinks = false,
                      .statistics_without_pages_only = true,
                      .empty_batch_refused = true,
                      .empty_refused = false,
                      .max_sparse_block = 128,
                      .page_tokens_multiple = 16}},
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
     .page_tokens_multiple = 1,
     .shared_kv = {.offered = false,
                   .window_127_0_only = false,
                   .ratio_4_or_128_only = false,
                   .topk_512_or_1024_only = false,
                   .cmp_mask_causal_always = false,
                   .packed_seqused_q_refused = false,
                   .empty_refused = false,
                   .heads_multiple = 1},
     .sparse_flash = {.narrows = true,
                      .sinks = true,
                      .statistics_without_pages_only = true,
                      .empty_batch_refused = true,
                      .empty_refused = true,
                      .max_sparse_block = 1,
                      .page_tokens_multiple = 16}},
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

Status CheckSharedKvProductAttributes(const ProductRules& product, ProductCheck check,
                                      const AttentionAttributes& given,
                                      const AttentionRules& rules) {
  const SharedKvProductRules& row = product.shared_kv;
  const bool is_main = check == ProductCheck::kMainOperator;
  if (!row.offered) {
    return RefuseFor(product, "SparseAttnSharedkv: the product does not have this operator");
  }
  if (is_main && rules.heads % row.heads_multiple != 0) {
    return RefuseFor(product, Str("query heads N1: ", rules.heads, ", must be a multiple of ",
                                  row.heads_multiple));
  }
  if (row.window_127_0_only && !is_main && given.ori_win_left != 127) {
    return RefuseFor(product, Str("ori_win_left: ", given.ori_win_left, ", must be 127"));
  }
  if (row.window_127_0_only && is_main && (given.ori_win_left != 127 || given.ori_win_right != 0)) {
    return RefuseFor(product, Str("ori_win_left, ori_win_right: ", given.ori_win_left, ", ",
                                  given.ori_win_right, ", must be 127, 0"));
  }
  if (is_main && row.cmp_mask_causal_always && given.cmp_mask_mode != 3) {
    return RefuseFor(product, Str("cmp_mask_mode: ", given.cmp_mask_mode, ", must be 3"));
  }
  if (!rules.has_cmp) return Status::Ok();
  if (row.ratio_4_or_128_only && rules.cmp_ratio != 4 && rules.cmp_ratio != 128) {
    return RefuseFor(product, Str("cmp_ratio: ", rules.cmp_ratio, ", must be 4 or 128"));
  }
  const int64_t topk = rules.cmp_topk;
  if (row.topk_512_or_1024_only && topk != 0 && topk != 512 && topk != 1024) {
    return RefuseFor(product, Str("cmp_topk (last axis of cmp_sparse_indices): ", topk,
                                  ", must be 512 or 1024"));
  }
  return Status::Ok();
}

Status CheckProductCache(const ProductRules& product, const OperandArg& cache, Layout layout_kv,
                         const CacheGeometry& geometry) {
  const bool paged = layout_kv == Layout::kPaged;
  if (paged && geometry.page_tokens % product.page_tokens_multiple) {
    return RefuseFor(product, Str(cache.name, ": block size ", geometry.page_tokens,
                                  ", must be a multiple of ", product.page_tokens_multiple));
  }
  if (!product.page_tokens_packed) return Status::Ok();
  const bool packed = paged ? geometry.token_stride == kHeadDim || geometry.page_tokens == 1
                            : IsContiguous(cache.desc);
  if (packed) return Status::Ok();
  if (!paged) {
    return RefuseFor(product, Str(cache.name, ": gaps between tokens or requests, must be ",
                                  "contiguous with layout_kv BSND or TND"));
  }
  return RefuseFor(product, Str(cache.name, ": row stride ", geometry.token_stride,
                                ", only the page stride may differ from a contiguous tensor"));
}

}  // namespace sfmla
