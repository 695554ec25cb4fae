// SPDX-License-Identifier: Apache-2.0
// What each product accepts: one row per value of SFMLA_RULES. The row `cpu` is the union; the
// others refuse what that product refuses, with the codes and words of this library.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "op_host/common/attention_attributes.h"
#include "op_host/common/operand.h"
#include "op_kernel/common/cache_geometry.h"

namespace sfmla {

// SparseAttnSharedkv and its planner.
struct SharedKvProductRules {
  bool offered;                   // the product has the operator
  bool window_127_0_only;         // its planner looks at the left window only
  bool ratio_4_or_128_only;       // with a compressed cache
  bool topk_512_or_1024_only;     // of an index list
  bool cmp_mask_causal_always;    // even without a compressed cache
  bool packed_seqused_q_refused;  // seqused_q with TND queries
  bool empty_refused;             // no request or no query row
  int64_t heads_multiple;
};

// SparseFlashAttention, V1 and V2.
struct SparseFlashProductRules {
  bool narrows;                        // the product accepts less than the union
  bool sinks;                          // accepted, but never with pages
  bool statistics_without_pages_only;  // softmax_max and softmax_sum
  bool empty_batch_refused;            // no request, or no query row in TND
  bool empty_refused;                  // no query row or no token
  int64_t max_sparse_block;
  int64_t page_tokens_multiple;
};

struct ProductRules {
  std::string_view name;
  bool heads_power_of_two;
  bool window_127_0_only;          // dense original part: mask 4, window 127/0
  bool window_needs_mask_4;        // other masks: both windows -1
  bool cmp_mask_causal_only;       // with a compressed cache
  bool ratio_by_mode;              // SWA 1, CSA 4, HCA 128
  bool swa_neutral_attributes;     // without a compressed cache: cmp_mask_mode 0, cmp_ratio 1
  bool ori_sparse_only_alone;      // original index list: SWA only, mask 0, windows >= 0
  bool ori_sparse_dense_ignored;   // original list + dense compressed part: the list is ignored
  bool cmp_topk_length;            // accepted
  bool superfluous_refused;        // tensors the mode does not use
  bool paged_needs_cmp_lengths;    // seqused_cmp_kv or cmp_topk_length, main operator
  bool planner_needs_cmp_lengths;  // seqused_cmp_kv with paged caches, metadata operator
  bool page_tokens_packed;         // only the page stride is free
  int64_t max_cmp_topk;
  int64_t page_tokens_multiple;
  SharedKvProductRules shared_kv;
  SparseFlashProductRules sparse_flash;
};

std::span<const ProductRules> AllProductRules();
// The row of SFMLA_RULES, or the sentence about a wrong environment variable.
Result<const ProductRules*> ProcessProductRules();

// 161002 with the product's name behind the sentence.
Status RefuseFor(const ProductRules& product, const std::string& text);

// The planner of a product lets attributes pass that only its main operator looks at.
enum class ProductCheck : uint8_t { kMainOperator, kPlanner };

// Refuses attributes that the product refuses and the union accepts.
Status CheckProductAttributes(const ProductRules& product, ProductCheck check,
                              const AttentionAttributes& given, const AttentionRules& rules);

// The same for SparseAttnSharedkv.
Status CheckSharedKvProductAttributes(const ProductRules& product, ProductCheck check,
                                      const AttentionAttributes& given,
                                      const AttentionRules& rules);

// Refuses a cache for its block size or the gaps between its tokens.
Status CheckProductCache(const ProductRules& product, const OperandArg& cache, Layout layout_kv,
                         const CacheGeometry& geometry);

}  // namespace sfmla
