// SPDX-License-Identifier: Apache-2.0
// The 1024 words (uint32) that SparseAttnSharedkvMetadata writes and SparseAttnSharedkv reads.
//
//   word    0 + 8*i   SharedKvCubeRecord i < 36: which part of the work cube core i does
//   word  288 + 8*j   VectorRecord j < 72: all 0, as no row is split between cores
//   word  864         magic number, kSharedKvMagic
//   word  865         format version, kSharedKvFormatVersion
//   word  866 ..      CallDigest: the call the plan was made for; seqused_kv is seqused_ori_kv, and
//                     records is 0: any records will do
//   the rest          0
//
// The records are the published ones; what comes behind them is published as unused.
#pragma once

#include <array>
#include <cstdint>

#include "op_kernel/common/call_digest.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {

inline constexpr int kSharedKvVectorRecordsBegin = 288;
inline constexpr int kSharedKvHeaderBegin = 864;
inline constexpr uint32_t kSharedKvMagic = 0x564B4153;  // "SAKV" in memory order
inline constexpr uint32_t kSharedKvFormatVersion = 1;

// Work lies in the order request -> row block. A core does everything from its start up to, not
// including, its end. Records of cores without work are all 0.
struct SharedKvCubeRecord {
  uint32_t enable;
  uint32_t request_start;    // upstream: bn2Start
  uint32_t row_block_start;  // mStart, see SharedKvPairsPerBlock
  uint32_t kv_block_start;   // s2Start: 0
  uint32_t request_end;
  uint32_t row_block_end;
  uint32_t kv_block_end;      // 0
  uint32_t first_split_slot;  // firstFdWorkspaceIdx: 0
};

using SharedKvCubeRecords = std::array<SharedKvCubeRecord, kCubeRecords>;

struct SharedKvMetadata {
  SharedKvCubeRecords cube;
  std::array<VectorRecord, kVectorRecords> vector;
  uint32_t magic;
  uint32_t version;
  CallDigest digest;
  std::array<uint32_t, kMetadataWords - kSharedKvHeaderBegin - 2 - sizeof(CallDigest) / 4> zero;
};

static_assert(sizeof(SharedKvCubeRecord) == 8 * 4);
static_assert(sizeof(SharedKvMetadata) == kMetadataWords * 4);
static_assert(kCubeRecords * 8 == kSharedKvVectorRecordsBegin);
static_assert(kSharedKvVectorRecordsBegin + kVectorRecords * 8 == kSharedKvHeaderBegin);

}  // namespace sfmla
