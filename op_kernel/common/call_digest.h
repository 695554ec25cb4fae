// SPDX-License-Identifier: Apache-2.0
// The identity of a call: written by a planner, compared by the main operator.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/length_tensors.h"

namespace sfmla {

// {low, high} words of a 64-bit hash; {0, 0}: of nothing.
using HashedWords = std::array<uint32_t, 2>;

// What the plan was made for, a word or a hash a fact, so that a mismatch can be named.
struct CallDigest {
  uint32_t layout_q;
  uint32_t layout_kv;
  uint32_t heads;
  uint32_t head_dim;
  uint32_t ori_mask_mode;
  uint32_t cmp_mask_mode;
  uint32_t window_left;
  uint32_t window_right;
  uint32_t cmp_ratio;
  uint32_t ori_topk;
  uint32_t cmp_topk;
  uint32_t has_ori_kv;
  uint32_t has_cmp_kv;
  uint32_t batch;
  // Of the values; {0, 0}: tensor absent or not used by the call.
  HashedWords cu_seqlens_q;
  HashedWords cu_seqlens_ori_kv;
  HashedWords cu_seqlens_cmp_kv;
  HashedWords seqused_q;
  HashedWords seqused_ori_kv;
  HashedWords seqused_cmp_kv;
  HashedWords cmp_residual_kv;
  HashedWords records;  // of all words before the header: a schedule changed by hand is noticed
};

// Never {0, 0}.
HashedWords HashWords(const void* words, int64_t count);

// Leaves out what a call may legally vary: maximum lengths, core counts, and what the rules say the
// mode ignores. `records` stays {0, 0}.
CallDigest DigestOf(const AttentionRules& rules, const LengthTensors& lengths);

// 507018 "metadata: <text>".
Status MetadataMismatch(const std::string& text);

// 507018 with "metadata: was built for ..., this call has ..." unless both are of the same call;
// `records` does not count. `names` are those of the operator.
Status CompareDigests(const CallDigest& plan, const CallDigest& call, const LengthNames& names);

}  // namespace sfmla
