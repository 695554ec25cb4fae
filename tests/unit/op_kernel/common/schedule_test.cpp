// SPDX-License-Identifier: Apache-2.0
// What every schedule must satisfy, on random problems; and a few worked out by hand.
#include "op_kernel/common/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace sfmla {
namespace {

struct Problem {
  explicit Problem(const AttentionRules& rules_in) : rules(rules_in) {}

  AttentionRules rules;
  std::vector<int32_t> cu_seqlens_q{0};
  std::vector<int32_t> seqused_ori_kv;
  std::vector<int32_t> seqused_cmp_kv;
  std::vector<int32_t> cmp_residual_kv;

  void Add(int32_t rows, int32_t tokens) {
    cu_seqlens_q.push_back(cu_seqlens_q.back() + rows);
    seqused_ori_kv.push_back(tokens);
    seqused_cmp_kv.push_back(tokens / rules.cmp_ratio);
    cmp_residual_kv.push_back(tokens % rules.cmp_ratio);
  }

  LengthTensors Lengths() const {
    LengthTensors out(rules, static_cast<int64_t>(seqused_ori_kv.size()));
    out.query_extent = cu_seqlens_q.back();
    out.ori_extent = kUnknownExtent;
    out.cmp_extent = kUnknownExtent;
    out.cu_seqlens_q = cu_seqlens_q.data();
    out.seqused_ori_kv = seqused_ori_kv.data();
    if (rules.has_cmp) {
      out.seqused_cmp_kv = seqused_cmp_kv.data();
      out.cmp_residual_kv = cmp_residual_kv.data();
    }
    return out;
  }
};

AttentionRules Rules(int32_t heads, int32_t cmp_ratio, int64_t cmp_topk) {
  AttentionRules rules;
  rules.layout_q = Layout::kTnd;
  rules.layout_kv = Layout::kPaged;
  rules.heads = heads;
  rules.has_ori = true;
  rules.ori_mask = MaskMode::kWindow;
  rules.window_left = 127;
  rules.window_right = 0;
  rules.has_cmp = cmp_ratio > 0;
  if (rules.has_cmp) {
    rules.cmp_ratio = cmp_ratio;
    rules.cmp_mask = MaskMode::kCausal;
    rules.cmp_topk = cmp_topk;
  }
  return rules;
}

Schedule MakeSchedule(const Problem& problem, int32_t cores) {
  Schedule out{};
  BuildSchedule(problem.rules, problem.Lengths(), {}, {cores, 2 * cores, 512}, &out);
  return out;
}

WorkPosition Start(const CubeRecord& record) {
  return {record.request_start, record.row_start, record.block_start};
}
WorkPosition End(const CubeRecord& record) {
  return {record.request_end, record.row_end, record.block_end};
}

// Counts for each block of each row how many records have it.
void CheckCoversOnce(const Problem& problem, const Schedule& schedule) {
  const LengthTensors lengths = problem.Lengths();
  int64_t wrong = 0;
  for (int64_t request = 0; request < lengths.batch; ++request) {
    const RequestLengths request_lengths = lengths.At(request);
    for (int64_t row = 0; row < request_lengths.query; ++row) {
      const RowBlocks blocks(CandidatesOf(problem.rules, request_lengths, row), 512);
      for (int64_t block = 0; block < std::max<int64_t>(blocks.total(), 1); ++block) {
        const WorkPosition position{request, row, block};
        wrong += 1 != std::count_if(schedule.cube.begin(), schedule.cube.end(),
                                    [&](const CubeRecord& record) {
                                      return record.enable == 1 && Start(record) <= position &&
                                             position < End(record);
                                    });
      }
    }
  }
  CHECK(wrong == 0);
}

// Load of each enabled record and the largest indivisible unit.
void CheckBalanced(const Problem& problem, const Schedule& schedule, int32_t cores) {
  const LengthTensors lengths = problem.Lengths();
  std::map<size_t, int64_t> load;
  int64_t total = 0, largest = 0;
  const bool few_rows = lengths.UsedQueryRows() < cores;
  int64_t slots_left = kMaxSplitSlots;
  for (int64_t request = 0; request < lengths.batch; ++request) {
    const RequestLengths request_lengths = lengths.At(request);
    for (int64_t row = 0; row < request_lengths.query; ++row) {
      const RowCandidates candidates = CandidatesOf(problem.rules, request_lengths, row);
      const RowBlocks blocks(candidates, 512);
      int64_t row_cost = 0;
      for (int64_t block = 0; block < blocks.total(); ++block) {
        const bool ori = block < blocks.ori();
        const int64_t count = ori ? candidates.ori_count : candidates.cmp_count;
        const int64_t first = (ori ? block : block - blocks.ori()) * 512;
        const int64_t cost = BlockCost(problem.rules.heads, std::min<int64_t>(512, count - first));
        const WorkPosition position{request, row, block};
        for (size_t core = 0; core < schedule.cube.size(); ++core) {
          const CubeRecord& record = schedule.cube[core];
          if (record.enable && Start(record) <= position && position < End(record)) {
            load[core] += cost;
          }
        }
        total += cost;
        row_cost += cost;
      }
      // A row is cut at its chunks while there are few rows and slots for partial results.
      const bool split = few_rows && blocks.chunks() > 1 && blocks.chunks() <= slots_left;
      if (split) slots_left -= blocks.chunks();
      const int64_t chunk_cost = blocks.blocks_per_chunk() * BlockCost(problem.rules.heads, 512);
      largest = std::max(largest, split ? chunk_cost : row_cost);
    }
  }
  for (const auto& [core, cost] : load) CHECK(cost <= total / cores + largest);
}

void CheckWellFormed(const Problem& problem, const Schedule& schedule, int32_t cores) {
  WorkPosition next;
  bool ended = false;
  for (const CubeRecord& record : schedule.cube) {
    if (record.enable == 0) {
      ended = true;
      CHECK(Start(record) == WorkPosition{});
      CHECK(End(record) == WorkPosition{});
      continue;
    }
    CHECK_FALSE(ended);
    CHECK(Start(record) == next);
    CHECK(End(record) > Start(record));
    next = End(record);
  }
  CHECK(next == WorkPosition{problem.Lengths().batch, 0, 0});
  CHECK(std::count_if(schedule.cube.begin(), schedule.cube.end(),
                      [](const auto& record) { return record.enable; }) <= cores);
}

// Every head of every split row is merged by exactly one vector core, from the row's own slots.
void CheckMerges(const Problem& problem, const Schedule& schedule) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int> merged;
  for (const VectorRecord& record : schedule.vector) {
    for (uint32_t head = 0; record.enable && head < record.head_count; ++head) {
      ++merged[{record.request, record.row, record.head_start + head}];
    }
  }
  const auto splits = SplitRowsOf(schedule, problem.rules, problem.Lengths(), 512, kMaxSplitSlots);
  CHECK(merged.size() == splits.size() * static_cast<size_t>(problem.rules.heads));
  for (const auto& [key, times] : merged) CHECK(times == 1);
  int64_t next_slot = 0;
  for (const SplitRow& split : splits) {
    CHECK(split.first_slot == next_slot);
    next_slot += split.slot_count;
  }
  CHECK(next_slot <= kMaxSplitSlots);
}

TEST_CASE("schedule: random problems are covered once, in order, with bounded load") {
  std::mt19937 random(7);
  const auto draw = [&](int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(random);
  };
  for (int round = 0; round < 120; ++round) {
    const int32_t mode = draw(0, 2);
    Problem problem(Rules(draw(1, 128), mode == 0 ? 0 : mode == 1 ? 4 : 128, mode == 1 ? 512 : 0));
    const int32_t requests = draw(1, 12);
    for (int32_t i = 0; i < requests; ++i) {
      problem.Add(draw(0, 4), draw(0, 5) == 0 ? draw(0, 1 << 20) : draw(0, 3000));
    }
    for (const int32_t cores : {1, 2, 24, 36}) {
      CAPTURE(round);
      CAPTURE(cores);
      const Schedule schedule = MakeSchedule(problem, cores);
      CheckWellFormed(problem, schedule, cores);
      CheckCoversOnce(problem, schedule);
      CheckBalanced(problem, schedule, cores);
      CheckMerges(problem, schedule);
    }
  }
}

TEST_CASE("schedule: thousands of requests") {
  Problem problem(Rules(8, 4, 512));
  for (int32_t i = 0; i < 12000; ++i) problem.Add(i % 3, i % 700);
  const Schedule schedule = MakeSchedule(problem, 36);
  CheckWellFormed(problem, schedule, 36);
  CheckBalanced(problem, schedule, 36);
}

TEST_CASE("schedule: one long request is split over many cores") {
  Problem problem(Rules(64, 128, 0));
  problem.Add(1, 1 << 20);  // 128 keys and 8192 compressed rows: 17 blocks, 9 chunks
  const Schedule schedule = MakeSchedule(problem, 36);
  CHECK(schedule.cube[8].enable == 1);
  CHECK(schedule.cube[9].enable == 0);
  CHECK(schedule.cube[0].block_end == 2);
  CHECK(schedule.cube[3].block_start == 6);
  CHECK(schedule.cube[3].first_split_slot == 3);
  CHECK(schedule.cube[3].max_blocks_of_row == 17);
  CHECK(schedule.vector[0].slot_count == 9);
}

TEST_CASE("schedule: nothing to do still covers every row") {
  Problem problem(Rules(64, 0, 0));
  problem.Add(3, 0);
  problem.Add(0, 0);
  const Schedule schedule = MakeSchedule(problem, 24);
  CHECK(schedule.cube[0].enable == 1);
  CHECK(End(schedule.cube[0]) == WorkPosition{2, 0, 0});
  CHECK(schedule.cube[1].enable == 0);
}

TEST_CASE("schedule: cost of a block, by hand") {
  CHECK(BlockCost(64, 512) == 6 * 4 + 10 * 8);
  CHECK(BlockCost(1, 1) == 16);
  CHECK(BlockCost(17, 65) == 32);
}

}  // namespace
}  // namespace sfmla
