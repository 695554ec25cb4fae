// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/arch/cpu/attention_kernel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/format.h"
#include "base/thread_pool.h"
#include "op_kernel/common/schedule.h"

namespace sfmla {
namespace {

// The first faulty table entry in the order of work, whichever thread met it.
class FaultNote {
 public:
  void Add(const TableFault& fault) {
    std::lock_guard lock(mutex_);
    if (!first_.found || Key(fault) < Key(first_)) first_ = fault;
    found_.store(true, std::memory_order_relaxed);
  }

  // Whether a fault is known that comes before this row: then nobody needs the row any more.
  bool Before(int64_t request, int64_t row) {
    if (!found_.load(std::memory_order_relaxed)) return false;
    std::lock_guard lock(mutex_);
    return std::tie(first_.request, first_.row) < std::tie(request, row);
  }

  Status ToStatus(const AttentionCall& call) const {
    if (!first_.found) return Status::Ok();
    const KvOperand& cache = first_.compressed ? call.cmp : call.ori;
    const int64_t pages = cache.geometry.outer_extent;
    const std::string allowed = pages == 0 ? std::string(", but the cache has no page")
                                           : Str(", must be in [0, ", pages - 1, "]");
    return Status(code::kRtAicoreException,
                  Str(cache.block_table_name, "[", first_.request, ", ", first_.column, "]: page ",
                      first_.page, allowed, " where a row attends to it"));
  }

 private:
  static std::tuple<int64_t, int64_t, bool, int64_t> Key(const TableFault& fault) {
    return {fault.request, fault.row, fault.compressed, fault.column};
  }

  std::mutex mutex_;
  std::atomic<bool> found_{false};
  TableFault first_;
};

class AttentionRun {
 public:
  AttentionRun(const AttentionCall& call, const Schedule& schedule, const TileKernels& kernels)
      : call_(call),
        schedule_(schedule),
        kernels_(kernels),
        padded_heads_(PadHeads(call.rules.heads, kernels.head_alignment)),
        shape_{call.rules.heads, call.type, call.rules.has_rope != 0, call.softmax_scale,
               call.block_tokens} {}

  Status Run();

 private:
  AttentionRow RowAt(int64_t request, const RequestLengths& lengths, int64_t row) const;
  KvPart PartAt(const KvOperand& operand, int64_t topk, int64_t request, int64_t global_row,
                int64_t first_token) const;
  ThreadScratch ScratchOf(int thread) const;
  PartialResult SlotAt(int64_t slot) const;
  const SplitRow* FindSplit(int64_t request, int64_t row) const;
  RowStatistics StatisticsOf(int64_t global_row) const;

  void ZeroRows(int64_t begin, int64_t end) const;
  void ZeroPaddedRows() const;
  void RunCore(const CubeRecord& record, int thread);
  void RunRow(const CubeRecord& record, const RequestLengths& lengths, int64_t request, int64_t row,
              RowAttention* attention);
  void RunSplitChunks(const CubeRecord& record, const SplitRow& split, const AttentionRow& row,
                      RowAttention* attention);
  void AddFault(TableFault fault, int64_t request, int64_t row);
  void FinishSplitRow(const SplitRow& split, int thread) const;
  void Finish(int64_t request, int64_t row, const PartialResult& total,
              const RowAttention& attention) const;

  const AttentionCall& call_;
  const Schedule& schedule_;
  const TileKernels& kernels_;
  const int64_t padded_heads_;
  const AttentionShape shape_;
  std::vector<SplitRow> splits_;
  FaultNote fault_;
};

ThreadScratch AttentionRun::ScratchOf(int thread) const {
  assert(thread < call_.layout.threads);
  char* base = static_cast<char*>(call_.workspace) + call_.layout.scratch_offset +
               thread * call_.layout.scratch_bytes;
  return ThreadScratch::At(base, padded_heads_, shape_.has_rope);
}

PartialResult AttentionRun::SlotAt(int64_t slot) const {
  char* base = static_cast<char*>(call_.workspace) + call_.layout.split_offset;
  return PartialResultAt(reinterpret_cast<float*>(base) + slot * SplitSlotFloats(padded_heads_),
                         padded_heads_);
}

const SplitRow* AttentionRun::FindSplit(int64_t request, int64_t row) const {
  for (const SplitRow& split : splits_) {
    if (split.request == request && split.row == row) return &split;
  }
  return nullptr;
}

// Everything about a part but its range and count.
KvPart AttentionRun::PartAt(const KvOperand& operand, int64_t topk, int64_t request,
                            int64_t global_row, int64_t first_token) const {
  KvPart out;
  out.cache = RequestCache(operand.geometry, call_.rules.layout_kv, operand.pool,
                           operand.block_table, request, first_token);
  if (topk > 0) out.indices = operand.indices + global_row * topk;
  return out;
}

AttentionRow AttentionRun::RowAt(int64_t request, const RequestLengths& lengths,
                                 int64_t row) const {
  const AttentionRules& rules = call_.rules;
  const int64_t global_row = call_.lengths.FirstQueryRow(request) + row;
  const int64_t first_token = call_.lengths.FirstOriToken(request);
  const RowCandidates candidates = CandidatesOf(rules, lengths, row);
  const auto companion = [&](const CompanionPool& pool) {
    return pool.pool == nullptr ? RequestCache()
                                : RequestCache(pool.geometry, rules.layout_kv, pool.pool,
                                               call_.ori.block_table, request, first_token);
  };
  const auto end_list = [&](const KvOperand& operand, KvPart* part) {
    EndList(operand.topk_length == nullptr ? nullptr : operand.topk_length + global_row, part);
  };

  AttentionRow out;
  const int64_t row_elements = rules.heads * kHeadDim;
  out.q = call_.q + global_row * row_elements;
  out.result = call_.out + global_row * row_elements;
  if (global_row + 1 < call_.query_rows) out.next_q = out.q + row_elements;
  if (shape_.has_rope) out.q_rope = call_.q_rope + global_row * rules.heads * kRopeDim;
  out.blocks = RowBlocks(candidates, call_.block_tokens);
  out.ori = PartAt(call_.ori, rules.ori_topk, request, global_row, first_token);
  out.ori.rope = companion(call_.ori_rope);
  out.ori.value = companion(call_.ori_value);
  out.ori.range = candidates.ori_range;
  out.ori.count = candidates.ori_count;
  out.ori.list_block = rules.ori_list_block;
  end_list(call_.ori, &out.ori);
  if (!rules.has_cmp) return out;
  out.cmp =
      PartAt(call_.cmp, rules.cmp_topk, request, global_row, call_.lengths.FirstCmpToken(request));
  out.cmp.compressed = true;
  out.cmp.range = {0, candidates.cmp_threshold};
  out.cmp.count = candidates.cmp_count;
  end_list(call_.cmp, &out.cmp);
  return out;
}

RowStatistics AttentionRun::StatisticsOf(int64_t global_row) const {
  const int64_t offset = global_row * call_.rules.heads;
  const auto at = [&](float* first) { return first == nullptr ? nullptr : first + offset; };
  const RowStatistics& first = call_.statistics;
  return {at(first.lse), at(first.max), at(first.sum)};
}

void AttentionRun::ZeroRows(int64_t begin, int64_t end) const {
  const int64_t row_elements = call_.rules.heads * kHeadDim;
  std::fill(call_.out + begin * row_elements, call_.out + end * row_elements, uint16_t{0});
  const RowStatistics first = StatisticsOf(begin);
  for (float* values : {first.lse, first.max, first.sum}) {
    if (values != nullptr) std::fill_n(values, (end - begin) * call_.rules.heads, 0.0f);
  }
}

// Rows set aside for a request but not used by it, and packed rows behind the last request.
void AttentionRun::ZeroPaddedRows() const {
  const LengthTensors& lengths = call_.lengths;
  int64_t next = 0;
  for (int64_t request = 0; request < lengths.batch; ++request) {
    const int64_t first = lengths.FirstQueryRow(request);
    ZeroRows(first + lengths.At(request).query, first + lengths.AllottedQueryRows(request));
    next = first + lengths.AllottedQueryRows(request);
  }
  ZeroRows(next, call_.query_rows);
}

void AttentionRun::Finish(int64_t request, int64_t row, const PartialResult& total,
                          const RowAttention& attention) const {
  const int64_t global_row = call_.lengths.FirstQueryRow(request) + row;
  const RequestLengths lengths = call_.lengths.At(request);
  // Such a row has no keys and, unlike other rows without keys, not even the statistics of its
  // sinks.
  const bool before_first_key = call_.rules.ori_mask == MaskMode::kCausal && !call_.rules.has_cmp &&
                                lengths.ori - lengths.query + row < 0;
  attention.Finish(total, before_first_key ? nullptr : call_.sinks,
                   call_.out + global_row * call_.rules.heads * kHeadDim, StatisticsOf(global_row));
}

void AttentionRun::AddFault(TableFault fault, int64_t request, int64_t row) {
  if (!fault.found) return;
  fault.request = request;
  fault.row = row;
  fault_.Add(fault);
}

// The chunks of a split row that begin within the record.
void AttentionRun::RunSplitChunks(const CubeRecord& record, const SplitRow& split,
                                  const AttentionRow& row, RowAttention* attention) {
  const ChunkRange chunks = SplitChunksOf(record, split.request, split.row, row.blocks);
  TableFault fault;
  for (int64_t chunk = chunks.begin; chunk < chunks.end && !fault.found; ++chunk) {
    attention->RunChunk(row, chunk, SlotAt(split.first_slot + chunk), &fault);
  }
  AddFault(fault, split.request, split.row);
}

void AttentionRun::RunRow(const CubeRecord& record, const RequestLengths& lengths, int64_t request,
                          int64_t row, RowAttention* attention) {
  const SplitRow* split = FindSplit(request, row);
  if (split == nullptr && BeganEarlier(record, request, row)) return;

  const AttentionRow attention_row = RowAt(request, lengths, row);
  attention->BeginRow(attention_row);
  if (split != nullptr) return RunSplitChunks(record, *split, attention_row, attention);

  TableFault fault;
  attention->RunRow(attention_row, &fault);
  if (fault.found) return AddFault(fault, request, row);
  Finish(request, row, attention->total(), *attention);
}

void AttentionRun::RunCore(const CubeRecord& record, int thread) {
  RowAttention attention(kernels_, shape_, ScratchOf(thread));
  for (int64_t request = record.request_start;
       request <= record.request_end && request < call_.lengths.batch; ++request) {
    const RequestLengths lengths = call_.lengths.At(request);
    const RowRange rows = RowsOf(record, request, lengths.query);
    for (int64_t row = rows.begin; row < rows.end && !fault_.Before(request, row); ++row) {
      RunRow(record, lengths, request, row, &attention);
    }
  }
}

void AttentionRun::FinishSplitRow(const SplitRow& split, int thread) const {
  const RowAttention attention(kernels_, shape_, ScratchOf(thread));
  const PartialResult total = SlotAt(split.first_slot);
  for (int64_t chunk = 1; chunk < split.slot_count; ++chunk) {
    attention.Merge(total, SlotAt(split.first_slot + chunk));
  }
  Finish(split.request, split.row, total, attention);
}

Status AttentionRun::Run() {
  splits_ = SplitRowsOf(schedule_, call_.rules, call_.lengths, call_.block_tokens,
                        call_.layout.split_slots);
  ZeroPaddedRows();
  const auto enabled_end =
      std::find_if(schedule_.cube.begin(), schedule_.cube.end(),
                   [](const CubeRecord& record) { return record.enable == 0; });
  ThreadPool& pool = ProcessThreadPool();
  pool.ParallelFor(enabled_end - schedule_.cube.begin(), [&](int64_t core, int thread) {
    RunCore(schedule_.cube[static_cast<size_t>(core)], thread);
  });
  SFMLA_RETURN_IF_ERROR(fault_.ToStatus(call_));
  pool.ParallelFor(static_cast<int64_t>(splits_.size()), [&](int64_t i, int thread) {
    FinishSplitRow(splits_[static_cast<size_t>(i)], thread);
  });
  return Status::Ok();
}

Status RunChecked(const AttentionCall& call, const Schedule& schedule) {
  const Result<const TileKernels*>& kernels = ProcessTileKernels();
  assert(kernels.ok());  // planning asked for it
  return AttentionRun(call, schedule, *kernels.value()).Run();
}

}  // namespace

Status RunAttention(const AttentionCall& call, const Schedule& schedule) {
  SFMLA_RETURN_IF_ERROR(call.lengths.CheckValues(code::kRtAicoreException));
  return RunChecked(call, schedule);
}

Status PlanAndRunAttention(const AttentionCall& call) {
  SFMLA_RETURN_IF_ERROR(call.lengths.CheckValues(code::kRtAicoreException));
  Schedule schedule{};
  BuildSchedule(call.rules, call.lengths, {call.ori.topk_length, call.cmp.topk_length},
                {kCubeRecords, kVectorRecords, call.block_tokens}, &schedule);
  return RunChecked(call, schedule);
}

}  // namespace sfmla
