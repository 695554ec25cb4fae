// SPDX-License-Identifier: Apache-2.0
// The 1024 words (uint32) that SparseFlashMlaMetadata writes and SparseFlashMla reads.
//
//   word    0 + 9*i   CubeRecord i < 36: which part of the work cube core i does
//   word  324 + 8*j   VectorRecord j < 72: which heads of a split row vector core j merges
//   word  900         magic number, kMagic
//   word  901         format version, kFormatVersion
//   word  902 ..      CallDigest: the call the plan was made for
//   the rest          0
#pragma once

#include <array>
#include <cstdint>

#include "op_kernel/common/schedule_records.h"

namespace sfmla {

inline constexpr int kMetadataWords = 1024;
inline constexpr int kVectorRecordsBegin = 324;
inline constexpr int kHeaderBegin = 900;
inline constexpr uint32_t kMagic = 0x414C4D53;  // "SMLA" in memory order
inline constexpr uint32_t kFormatVersion = 1;

// What the plan was made for, a word or a 64-bit hash a fact, so that a mismatch can be named.
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
  // {low, high} words of the hash of the values; {0, 0}: tensor absent or not used by the call
  std::array<uint32_t, 2> cu_seqlens_q;
  std::array<uint32_t, 2> cu_seqlens_ori_kv;
  std::array<uint32_t, 2> cu_seqlens_cmp_kv;
  std::array<uint32_t, 2> seqused_q;
  std::array<uint32_t, 2> seqused_ori_kv;
  std::array<uint32_t, 2> seqused_cmp_kv;
  std::array<uint32_t, 2> cmp_residual_kv;
  std::array<uint32_t, 2> records;  // words [0, 900): a schedule changed by hand is noticed
};

struct Metadata {
  Schedule schedule;
  uint32_t magic;
  uint32_t version;
  CallDigest digest;
  std::array<uint32_t, kMetadataWords - kHeaderBegin - 2 - sizeof(CallDigest) / 4> zero;
};

static_assert(sizeof(Metadata) == kMetadataWords * 4);
static_assert(kCubeRecords * 9 == kVectorRecordsBegin);
static_assert(kVectorRecordsBegin + kVectorRecords * 8 == kHeaderBegin);

}  // namespace sfmla
