// SPDX-License-Identifier: Apache-2.0
// How a record of a plan maps to the rows and chunks of a call. Lengths that the plan had to guess
// may differ from those of the call, so all of it is derived from the call again.
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/device_macros.h"
#include "op_kernel/common/kv_range.h"
#include "op_kernel/common/scalar_math.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {

// A row whose chunks belong to more than one core, and where its partial results lie.
struct SplitRow {
  int64_t request = 0;
  int64_t row = 0;
  int64_t first_slot = 0;
  int64_t slot_count = 0;  // chunks of the row
};

// Takes the records of a plan in order and finds the rows that they split, as many as
// `available_slots` hold; a row that finds no room is not split and belongs to the core that has
// its first chunk.
class SplitRowScan {
 public:
  SFMLA_DEVICE SplitRowScan(int64_t block_tokens, int64_t available_slots)
      : block_tokens_(block_tokens), available_slots_(available_slots) {}

  // Whether the record ends inside of a row that no record before it split. `Lengths` is
  // LengthSources<...>.
  template <typename Lengths>
  SFMLA_DEVICE bool Add(const CubeRecord& record, const AttentionRules& rules,
                        const Lengths& lengths, SplitRow* found) {
    if (record.enable == 0 || record.block_end == 0) return false;
    const int64_t request = record.request_end;
    const int64_t row = record.row_end;
    if (request == last_request_ && row == last_row_) return false;
    if (request >= lengths.batch) return false;
    const RequestLengths request_lengths = lengths.At(request);
    if (row >= request_lengths.query) return false;
    const int64_t chunks =
        RowBlocks(CandidatesOf(rules, request_lengths, row), block_tokens_).chunks();
    if (chunks < 2 || next_slot_ + chunks > available_slots_) return false;
    *found = {request, row, next_slot_, chunks};
    next_slot_ += chunks;
    last_request_ = request;
    last_row_ = row;
    return true;
  }

 private:
  int64_t block_tokens_;
  int64_t available_slots_;
  int64_t next_slot_ = 0;
  int64_t last_request_ = -1;
  int64_t last_row_ = -1;
};

// Rows [begin, end) of a request that a record has a part of.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};
SFMLA_DEVICE inline RowRange RowsOf(const CubeRecord& record, int64_t request, int64_t query_rows) {
  RowRange out{0, query_rows};
  if (request == record.request_start) out.begin = record.row_start;
  if (request == record.request_end) {
    out.end = LesserOf(out.end, int64_t{record.row_end} + (record.block_end > 0 ? 1 : 0));
  }
  return out;
}

// Whether a core before this one has the first block of the row; then a row that is not split is
// not this record's.
SFMLA_DEVICE inline bool BeganEarlier(const CubeRecord& record, int64_t request, int64_t row) {
  return record.request_start == request && record.row_start == row && record.block_start > 0;
}

// Chunks [begin, end) of a split row that the record computes.
struct ChunkRange {
  int64_t begin = 0;
  int64_t end = 0;
};
SFMLA_DEVICE inline ChunkRange SplitChunksOf(const CubeRecord& record, int64_t request, int64_t row,
                                             const RowBlocks& blocks) {
  const int64_t step = blocks.blocks_per_chunk();
  ChunkRange out{0, blocks.chunks()};
  if (record.request_start == request && record.row_start == row) {
    out.begin = QuotientUp(record.block_start, step);
  }
  if (record.request_end == request && record.row_end == row) {
    out.end = LesserOf(out.end, QuotientUp(record.block_end, step));
  }
  return out;
}

}  // namespace sfmla
