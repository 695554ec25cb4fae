// SPDX-License-Identifier: Apache-2.0
// The parts of an attention call that decide which keys a query row sees. Shared by planners and
// kernels; plain data, so it travels inside tiling data.
#pragma once

#include <cstdint>

#include "op_kernel/common/device_macros.h"

namespace sfmla {

inline constexpr int64_t kHeadDim = 512;
// Elements of query and key that count in the score only, where an operator keeps them apart.
inline constexpr int64_t kRopeDim = 64;
inline constexpr int32_t kMaxHeads = 128;
inline constexpr int32_t kUnlimitedWindow = -1;

enum class Layout : int32_t { kBsnd = 0, kTnd = 1, kPaged = 2 };
inline constexpr const char* kLayoutNames[] = {"BSND", "TND", "PA_BBND"};

enum class MaskMode : int32_t { kNone = 0, kCausal = 3, kWindow = 4 };

struct AttentionRules {
  Layout layout_q = Layout::kBsnd;
  Layout layout_kv = Layout::kBsnd;
  int32_t heads = 0;  // query heads, N1
  MaskMode ori_mask = MaskMode::kNone;
  MaskMode cmp_mask = MaskMode::kNone;     // kNone without a compressed cache
  int32_t window_left = kUnlimitedWindow;  // tokens; kUnlimitedWindow unless ori_mask is kWindow
  int32_t window_right = kUnlimitedWindow;
  int32_t cmp_ratio = 1;  // original tokens per compressed row; 1 without a cache
  int32_t has_ori = 0;    // flags: 0 or 1
  int32_t has_cmp = 0;
  int32_t ori_list_block = 1;  // consecutive tokens that an entry of the original list names
  int32_t has_rope = 0;        // flag: scores take kRopeDim more elements
  int64_t ori_topk = 0;        // entries of the original index list; 0: that part is dense
  int64_t cmp_topk = 0;  // width of the compressed index list; 0: the compressed part is dense

  SFMLA_DEVICE bool uses_residual() const {
    return has_cmp && cmp_mask == MaskMode::kCausal && cmp_ratio != 1;
  }
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(sizeof(AttentionRules) == 12 * sizeof(int32_t) + 2 * sizeof(int64_t));

}  // namespace sfmla
