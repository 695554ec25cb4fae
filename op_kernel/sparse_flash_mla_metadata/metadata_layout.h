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

#include "op_kernel/common/call_digest.h"
#include "op_kernel/common/schedule_words.h"

namespace sfmla {

inline constexpr int kVectorRecordsBegin = 324;
inline constexpr int kHeaderBegin = 900;
inline constexpr uint32_t kMagic = 0x414C4D53;  // "SMLA" in memory order
inline constexpr uint32_t kFormatVersion = 1;

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
