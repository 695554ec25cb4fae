// SPDX-License-Identifier: Apache-2.0
// The attributes that the main operator and its planner share, checked once for both.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

// As the caller gave them.
struct AttentionAttributes {
  int64_t cmp_ratio = 1;
  int64_t ori_mask_mode = 0;
  int64_t cmp_mask_mode = 0;
  int64_t ori_win_left = -1;
  int64_t ori_win_right = -1;
  const char* layout_q = nullptr;
  const char* layout_kv = nullptr;
};

// What tells the modes apart: which caches there are, and how wide their index lists are (0:
// dense).
struct AttentionParts {
  bool has_ori = true;
  bool has_cmp = false;
  int64_t ori_topk = 0;
  int64_t cmp_topk = 0;
};

// What an operator says about layouts: the names of the attributes, its name of the paged layout,
// what NULL means for the caches, and whether every pair of layouts is one.
struct LayoutNames {
  const char* q = "layout_q";
  const char* kv = "layout_kv";
  const char* paged = "PA_BBND";
  const char* default_kv = "BSND";
  bool any_pair = false;
};

// Those of SparseAttnSharedkv and its planner.
inline constexpr LayoutNames kSharedKvLayouts = {
    .paged = "PA_ND", .default_kv = "PA_ND", .any_pair = true};

// Layout names, NULL meaning BSND for the queries; and the pair of them.
Result<Layout> ParseLayoutQ(const char* text, const LayoutNames& names = {});
Result<Layout> ParseLayoutKv(const char* text, Layout layout_q, const LayoutNames& names = {});

// Everything but `heads`. Attributes that the parts make meaningless are normalised, so that calls
// which mean the same compare equal.
Result<AttentionRules> CheckAttributes(const AttentionAttributes& attributes,
                                       const AttentionParts& parts, const LayoutNames& names = {});

// Window attributes of an operator that knows no unlimited ones.
Status CheckLimitedWindow(const AttentionAttributes& attributes);

// The mode of a call in the words of the public texts: SWA, CSA, HCA, ORI_SPARSE, ORI_CMP_SPARSE.
const char* ModeName(const AttentionRules& rules);

}  // namespace sfmla
