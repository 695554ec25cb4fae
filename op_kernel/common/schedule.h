// SPDX-License-Identifier: Apache-2.0
// Splits the work of a call over cores. Pure: the same input gives the same records.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/kv_range.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/common/schedule_words.h"
#include "op_kernel/common/split_rows.h"

namespace sfmla {

// Partial results of split rows are kept one per chunk; a schedule never asks for more than this.
inline constexpr int64_t kMaxSplitSlots = 64;

// Planning looks at every query row, so a junk length must not pass for billions of them. q of one
// head and so many rows would take 64 GiB.
inline constexpr int64_t kMaxPlannedRows = int64_t{1} << 26;

// 507018 for more rows than that in all; the sentence names the tensor or attribute they come from.
Status CheckPlannedRows(const LengthTensors& lengths);

struct ScheduleTarget {
  int64_t cube_cores = 1;    // 1..36
  int64_t vector_cores = 1;  // 1..72
  int64_t block_tokens = 512;
};

// A place in the order of work: request -> query row -> KV block.
struct WorkPosition {
  int64_t request = 0;
  int64_t row = 0;
  int64_t block = 0;
  auto operator<=>(const WorkPosition&) const = default;
};

// Per-row top-k lengths shorten the cost of a row, never its geometry. nullptr: not given.
struct TopkLengths {
  const int32_t* ori = nullptr;  // one per query row of q
  const int32_t* cmp = nullptr;
};

// Relative cost of `rows` query rows x heads against `tokens` keys of one KV block: the matrix
// units work in tiles of 16 rows, the vector units on 64 keys.
constexpr int64_t BlockCost(int64_t rows, int64_t tokens) {
  return 6 * ((rows + 15) / 16) + 10 * ((tokens + 63) / 64);
}

// Fills every record of `out`. A core that is enabled starts where the one before it ended; the
// first starts at (0,0,0), the last ends at (batch,0,0). The load of a core exceeds the mean by at
// most one indivisible unit: a row, or one chunk of a row when there are fewer rows than cores and
// slots left for its partial results.
void BuildSchedule(const AttentionRules& rules, const LengthTensors& lengths,
                   const TopkLengths& topk_lengths, const ScheduleTarget& target, Schedule* out);

// The split rows that the records imply for a call, in order, as many as `available_slots` hold; a
// row that finds no room is not split and belongs to the core that has its first chunk.
std::vector<SplitRow> SplitRowsOf(const Schedule& schedule, const AttentionRules& rules,
                                  const LengthTensors& lengths, int64_t block_tokens,
                                  int64_t available_slots);

}  // namespace sfmla
