// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/attention_attributes.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "op_host/common/operand.h"

namespace sfmla {
namespace {

constexpr int64_t kMaxCmpRatio = 128;

Status CheckWindow(const char* name, int64_t tokens) {
  if (tokens >= -1) return Status::Ok();
  return Refuse(Str(name, ": ", tokens, ", must be -1 (unlimited) or a number of tokens"));
}

// Lengths are INT32, so a window beyond that is as good as unlimited.
int32_t WindowTokens(int64_t tokens) {
  return static_cast<int32_t>(std::min<int64_t>(tokens, INT32_MAX));
}

}  // namespace

Result<Layout> ParseLayoutQ(const char* text, const LayoutNames& names) {
  const std::string_view value = text == nullptr ? "BSND" : text;
  if (value == "BSND") return Layout::kBsnd;
  if (value == "TND") return Layout::kTnd;
  return Refuse(Str(names.q, ": '", value, "', must be BSND or TND"));
}

Result<Layout> ParseLayoutKv(const char* text, Layout layout_q, const LayoutNames& names) {
  const std::string_view value = text == nullptr ? names.default_kv : text;
  // Three names for one memory order, from three operators of the family.
  if (value == "PA_BBND" || value == "PA_ND" || value == "PA_BSND") return Layout::kPaged;
  Layout layout = Layout::kBsnd;
  if (value == "TND") {
    layout = Layout::kTnd;
  } else if (value != "BSND") {
    return Refuse(Str(names.kv, ": '", value, "', must be BSND, TND or ", names.paged));
  }
  if (names.any_pair || layout == layout_q) return layout;
  const char* name_q = kLayoutNames[static_cast<int>(layout_q)];
  return Refuse(Str(names.kv, ": ", value, " with ", names.q, " ", name_q, ", must be ", name_q,
                    " or ", names.paged));
}

Result<AttentionRules> CheckAttributes(const AttentionAttributes& attributes,
                                       const AttentionParts& parts, const LayoutNames& names) {
  AttentionRules out;
  const Result<Layout> layout_q = ParseLayoutQ(attributes.layout_q, names);
  if (!layout_q.ok()) return layout_q.status();
  const Result<Layout> layout_kv = ParseLayoutKv(attributes.layout_kv, layout_q.value(), names);
  if (!layout_kv.ok()) return layout_kv.status();
  out.layout_q = layout_q.value();
  out.layout_kv = layout_kv.value();
  out.has_ori = parts.has_ori;
  out.has_cmp = parts.has_cmp;

  if (parts.has_ori) {
    const int64_t mask = attributes.ori_mask_mode;
    if (mask != 0 && mask != 3 && mask != 4) {
      return Refuse(
          Str("ori_mask_mode: ", mask, ", must be 0 (no mask), 3 (causal) or 4 (sliding window)"));
    }
    if (Status status = CheckWindow("ori_win_left", attributes.ori_win_left); !status.ok()) {
      return status;
    }
    if (Status status = CheckWindow("ori_win_right", attributes.ori_win_right); !status.ok()) {
      return status;
    }
    out.ori_mask = static_cast<MaskMode>(mask);
    out.ori_topk = parts.ori_topk;
    if (out.ori_mask == MaskMode::kWindow) {
      out.window_left = WindowTokens(attributes.ori_win_left);
      out.window_right = WindowTokens(attributes.ori_win_right);
    }
  }
  if (parts.has_cmp) {
    const int64_t mask = attributes.cmp_mask_mode;
    if (mask != 0 && mask != 3) {
      return Refuse(Str("cmp_mask_mode: ", mask, ", must be 0 (no mask) or 3 (causal)"));
    }
    const int64_t ratio = attributes.cmp_ratio;
    if (ratio < 1 || ratio > kMaxCmpRatio) {
      return Refuse(Str("cmp_ratio: ", ratio, ", must be in [1, ", kMaxCmpRatio, "]"));
    }
    out.cmp_mask = static_cast<MaskMode>(mask);
    out.cmp_ratio = static_cast<int32_t>(ratio);
    out.cmp_topk = parts.cmp_topk;
  }
  return out;
}

Status CheckLimitedWindow(const AttentionAttributes& attributes) {
  const auto refuse = [](const char* name, int64_t tokens) {
    return Refuse(Str(name, ": ", tokens, ", must be at least 0"));
  };
  if (attributes.ori_win_left < 0) return refuse("ori_win_left", attributes.ori_win_left);
  if (attributes.ori_win_right < 0) return refuse("ori_win_right", attributes.ori_win_right);
  return Status::Ok();
}

const char* ModeName(const AttentionRules& rules) {
  if (!rules.has_cmp) return rules.ori_topk > 0 ? "ORI_SPARSE" : "SWA";
  if (rules.ori_topk > 0 && rules.cmp_topk > 0) return "ORI_CMP_SPARSE";
  return rules.cmp_topk > 0 ? "CSA" : "HCA";
}

}  // namespace sfmla
