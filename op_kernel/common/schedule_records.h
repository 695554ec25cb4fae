// SPDX-License-Identifier: Apache-2.0
// Which core does which part of the work: what a planner writes and a kernel follows.
#pragma once

#include <cstdint>

namespace sfmla {

inline constexpr int kMetadataWords = 1024;  // of a plan: records, then what the planner adds
inline constexpr int kCubeRecords = 36;
inline constexpr int kVectorRecords = 72;

// Work lies in the order request -> query row -> KV block (512 candidates, original part first). A
// core does everything from its start up to, not including, its end.
struct CubeRecord {
  uint32_t enable;
  uint32_t request_start;  // upstream: bn2_start
  uint32_t row_start;      // m_start
  uint32_t block_start;    // s2_start
  uint32_t request_end;
  uint32_t row_end;
  uint32_t block_end;
  uint32_t first_split_slot;   // workspace slot of the core's first partial result
  uint32_t max_blocks_of_row;  // most KV blocks any row of the core has
};

// One row split between cores has one partial result per chunk; this core merges heads
// [head_start, head_start + head_count) of them.
struct VectorRecord {
  uint32_t enable;
  uint32_t request;
  uint32_t row;
  uint32_t first_split_slot;
  uint32_t slot_count;
  uint32_t head_start;
  uint32_t head_count;
  uint32_t unused;
};

static_assert(sizeof(CubeRecord) == 9 * 4 && sizeof(VectorRecord) == 8 * 4);

}  // namespace sfmla
