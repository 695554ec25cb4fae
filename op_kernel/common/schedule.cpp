// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/common/schedule.h"

#include <algorithm>

#include "base/format.h"

namespace sfmla {
namespace {

// Cost of candidates [begin, end) of one part of a row.
int64_t PartCost(int64_t heads, int64_t begin, int64_t end, int64_t block_tokens) {
  if (end <= begin) return 0;
  const int64_t count = end - begin;
  const int64_t tail = count % block_tokens;
  return count / block_tokens * BlockCost(heads, block_tokens) +
         (tail > 0 ? BlockCost(heads, tail) : 0);
}

// Everything planning wants to know about one query row.
class RowPlan {
 public:
  RowPlan(const AttentionRules& rules, const LengthTensors& tensors, const RequestLengths& lengths,
          const TopkLengths& topk, int64_t request, int64_t row, int64_t block_tokens)
      : heads_(rules.heads),
        block_tokens_(block_tokens),
        candidates_(CandidatesOf(rules, lengths, row)),
        blocks_(candidates_, block_tokens),
        ori_cost_count_(candidates_.ori_count),
        cmp_cost_count_(candidates_.cmp_count) {
    const int64_t global_row = tensors.FirstQueryRow(request) + row;
    if (topk.ori != nullptr) Shorten(topk.ori[global_row], &ori_cost_count_);
    if (topk.cmp != nullptr) Shorten(topk.cmp[global_row], &cmp_cost_count_);
  }

  const RowBlocks& blocks() const { return blocks_; }

  int64_t Cost() const { return CostOfBlocks(0, blocks_.total()); }

  int64_t CostOfBlocks(int64_t begin, int64_t end) const {
    const int64_t ori = blocks_.ori();
    return PartCost(heads_, begin * block_tokens_,
                    std::min(std::min(end, ori) * block_tokens_, ori_cost_count_), block_tokens_) +
           PartCost(heads_, std::max<int64_t>(begin - ori, 0) * block_tokens_,
                    std::min((end - ori) * block_tokens_, cmp_cost_count_), block_tokens_);
  }

 private:
  static void Shorten(int32_t length, int64_t* count) {
    *count = std::min(*count, std::max<int64_t>(length, 0));
  }

  int64_t heads_;
  int64_t block_tokens_;
  RowCandidates candidates_;
  RowBlocks blocks_;
  int64_t ori_cost_count_;
  int64_t cmp_cost_count_;
};

// Closes a core's record whenever the next unit belongs to a later core.
class Partition {
 public:
  Partition(int64_t total_cost, int64_t cores, Schedule* out)
      : total_cost_(total_cost), cores_(cores), out_(out) {}

  // A unit goes to the core whose equal share of the total cost holds the middle of the unit, so a
  // core gets at most its share and half a unit at either end.
  void Add(const WorkPosition& position, int64_t cost, int64_t blocks_of_row) {
    const int64_t core = CoreOf(cost);
    if (core != core_ && position != start_) Close(position);
    core_ = core;
    done_ += cost;
    max_blocks_ = std::max(max_blocks_, blocks_of_row);
  }

  void Finish(int64_t batch) { Close({batch, 0, 0}); }

 private:
  int64_t CoreOf(int64_t cost) const {
    if (total_cost_ == 0) return 0;
    __extension__ using Wide = __int128;
    const Wide twice_middle = static_cast<Wide>(2) * done_ + cost;
    const auto core = static_cast<int64_t>(twice_middle * cores_ / (2 * total_cost_));
    return std::min(core, cores_ - 1);
  }

  void Close(const WorkPosition& end) {
    CubeRecord& record = out_->cube[records_++];
    record.enable = 1;
    record.request_start = static_cast<uint32_t>(start_.request);
    record.row_start = static_cast<uint32_t>(start_.row);
    record.block_start = static_cast<uint32_t>(start_.block);
    record.request_end = static_cast<uint32_t>(end.request);
    record.row_end = static_cast<uint32_t>(end.row);
    record.block_end = static_cast<uint32_t>(end.block);
    record.max_blocks_of_row = static_cast<uint32_t>(max_blocks_);
    start_ = end;
    max_blocks_ = 0;
  }

  const int64_t total_cost_;
  const int64_t cores_;
  Schedule* const out_;
  size_t records_ = 0;
  int64_t core_ = 0;
  int64_t done_ = 0;
  int64_t max_blocks_ = 0;
  WorkPosition start_;
};

WorkPosition StartOf(const CubeRecord& record) {
  return {record.request_start, record.row_start, record.block_start};
}

WorkPosition EndOf(const CubeRecord& record) {
  return {record.request_end, record.row_end, record.block_end};
}

RowBlocks BlocksOf(const AttentionRules& rules, const LengthTensors& lengths, int64_t request,
                   int64_t row, int64_t block_tokens) {
  return RowBlocks(CandidatesOf(rules, lengths.At(request), row), block_tokens);
}

// Workspace slot of the first partial result a core writes, 0 if it writes none.
uint32_t FirstSlotOf(const CubeRecord& record, const std::vector<SplitRow>& splits,
                     const AttentionRules& rules, const LengthTensors& lengths,
                     int64_t block_tokens) {
  for (const SplitRow& split : splits) {
    const WorkPosition row_begin{split.request, split.row, 0};
    const WorkPosition row_end{split.request, split.row + 1, 0};
    if (EndOf(record) <= row_begin || StartOf(record) >= row_end) continue;
    const int64_t per_chunk =
        BlocksOf(rules, lengths, split.request, split.row, block_tokens).blocks_per_chunk();
    const int64_t first_block = StartOf(record) > row_begin ? record.block_start : 0;
    return static_cast<uint32_t>(split.first_slot + (first_block + per_chunk - 1) / per_chunk);
  }
  return 0;
}

// Shares the vector cores out among the split rows; each takes some heads of one row.
void FillVectorRecords(const std::vector<SplitRow>& splits, int64_t heads, int64_t vector_cores,
                       Schedule* out) {
  if (splits.empty()) return;
  const int64_t rows = static_cast<int64_t>(splits.size());
  const int64_t cores_per_row = std::clamp<int64_t>(vector_cores / rows, 1, heads);
  size_t next = 0;
  for (const SplitRow& split : splits) {
    const int64_t heads_per_core = (heads + cores_per_row - 1) / cores_per_row;
    for (int64_t head = 0; head < heads; head += heads_per_core) {
      VectorRecord& record = out->vector[next++];
      record.enable = 1;
      record.request = static_cast<uint32_t>(split.request);
      record.row = static_cast<uint32_t>(split.row);
      record.first_split_slot = static_cast<uint32_t>(split.first_slot);
      record.slot_count = static_cast<uint32_t>(split.slot_count);
      record.head_start = static_cast<uint32_t>(head);
      record.head_count = static_cast<uint32_t>(std::min(heads_per_core, heads - head));
    }
  }
}

// Feeds the units of one row to the partition: the whole row, or its chunks if it may be split.
void AddRow(const RowPlan& plan, int64_t request, int64_t row, bool may_split,
            Partition* partition) {
  const RowBlocks& blocks = plan.blocks();
  if (!may_split) {
    partition->Add({request, row, 0}, plan.Cost(), blocks.total());
    return;
  }
  const int64_t step = blocks.blocks_per_chunk();
  for (int64_t block = 0; block < blocks.total(); block += step) {
    const int64_t end = std::min(block + step, blocks.total());
    partition->Add({request, row, block}, plan.CostOfBlocks(block, end), blocks.total());
  }
}

}  // namespace

void BuildSchedule(const AttentionRules& rules, const LengthTensors& lengths,
                   const TopkLengths& topk_lengths, const ScheduleTarget& target, Schedule* out) {
  out->cube.fill({});
  out->vector.fill({});
  const auto for_each_row = [&](const auto& visit) {
    for (int64_t request = 0; request < lengths.batch; ++request) {
      const RequestLengths request_lengths = lengths.At(request);
      for (int64_t row = 0; row < request_lengths.query; ++row) {
        visit(request, row,
              RowPlan(rules, lengths, request_lengths, topk_lengths, request, row,
                      target.block_tokens));
      }
    }
  };

  int64_t total_cost = 0;
  for_each_row([&](int64_t, int64_t, const RowPlan& plan) { total_cost += plan.Cost(); });

  const bool few_rows = lengths.UsedQueryRows() < target.cube_cores;
  int64_t slots_left = kMaxSplitSlots;
  Partition partition(total_cost, target.cube_cores, out);
  for_each_row([&](int64_t request, int64_t row, const RowPlan& plan) {
    const int64_t chunks = plan.blocks().chunks();
    const bool may_split = few_rows && chunks > 1 && chunks <= slots_left;
    if (may_split) slots_left -= chunks;
    AddRow(plan, request, row, may_split, &partition);
  });
  partition.Finish(lengths.batch);

  const std::vector<SplitRow> splits =
      SplitRowsOf(*out, rules, lengths, target.block_tokens, kMaxSplitSlots);
  for (CubeRecord& record : out->cube) {
    if (record.enable == 0) break;
    record.first_split_slot = FirstSlotOf(record, splits, rules, lengths, target.block_tokens);
  }
  FillVectorRecords(splits, rules.heads, target.vector_cores, out);
}

Status CheckPlannedRows(const LengthTensors& lengths) {
  const int64_t rows = lengths.UsedQueryRows();
  if (rows <= kMaxPlannedRows) return Status::Ok();
  const char* source =
      lengths.seqused_q != nullptr ? lengths.names.seqused_q : lengths.names.cu_seqlens_q;
  return Status(code::kRtAicpuException,
                Str(source, ": ", rows, " query rows in all, must be at most ", kMaxPlannedRows));
}

std::vector<SplitRow> SplitRowsOf(const Schedule& schedule, const AttentionRules& rules,
                                  const LengthTensors& lengths, int64_t block_tokens,
                                  int64_t available_slots) {
  std::vector<SplitRow> out;
  SplitRowScan scan(block_tokens, available_slots);
  for (const CubeRecord& record : schedule.cube) {
    SplitRow split;
    if (scan.Add(record, rules, lengths, &split)) out.push_back(split);
  }
  return out;
}

}  // namespace sfmla
