// SPDX-License-Identifier: Apache-2.0
// After all tiles: merges the chunks of split rows, left to right, a few heads at a time. The
// vector records of the plan say which core merges which heads of which row; how many chunks a row
// has, and where they lie, follows from the lengths of the call, as for the cores that stored them.
#pragma once

#include "op_kernel/arch/dav_2201/partial_slots.h"
#include "op_kernel/arch/dav_2201/plan_records.h"
#include "op_kernel/arch/dav_2201/row_task.h"
#include "op_kernel/arch/dav_2201/zero_rows.h"

namespace sfmla::dav_2201 {

template <typename T>
class MergeStage {
 public:
  __aicore__ inline explicit MergeStage(VectorContext<T>* context)
      : context_(*context),
        finisher_(context),
        total_{Ub<float, ub::kTotalMax>(), Ub<float, ub::kTotalSum>()},
        part_{Ub<float, ub::kRunningMax>(), Ub<float, ub::kRunningSum>()} {}

  // Vector core `core` of `cores` takes record `core` and every cores-th one behind it. A row that
  // the plan split for lengths it had to guess may be whole in the call: then it is finished.
  __aicore__ inline void Run(const SplitTable& splits, int64_t core, int64_t cores) {
    for (int64_t index = core; index < kVectorRecords; index += cores) {
      const VectorRecord record = VectorRecordAt(context_.tensors.metadata, index);
      if (record.enable == 0) continue;
      const SplitRow* split = splits.Find(record.request, record.row);
      if (split != nullptr) MergeRow(*split, {record.head_start, record.head_count});
    }
  }

 private:
  __aicore__ inline void MergeRow(const SplitRow& split, const HeadRange& heads) {
    const RequestLengths lengths = context_.tensors.lengths.At(split.request);
    const RowTask row =
        RowTaskOf(context_.tensors, context_.call, lengths, split.request, split.row);
    if (!row.has_keys) {
      ZeroHeads(&context_, row.global_row, heads);
      return;
    }
    for (int64_t first = heads.first; first < heads.end(); first += kOutputRows) {
      MergeHeads(split, row, {first, LesserOf(kOutputRows, heads.end() - first)});
    }
  }

  __aicore__ inline void MergeHeads(const SplitRow& split, const RowTask& row,
                                    const HeadRange& heads) {
    MergeChunks(split, row, heads);
    finisher_.Finish(row.global_row, heads, total_);
    context_.accumulator.ReleaseByVector();
  }

  // The first result becomes the total, in the first rows of the accumulator; the others take turns
  // behind it.
  __aicore__ inline void MergeChunks(const SplitRow& split, const RowTask& row,
                                     const HeadRange& heads) {
    bool is_first = true;
    context_.accumulator.Acquire();
    for (int64_t chunk = 0; chunk < split.slot_count; ++chunk) {
      if (ChunkTaskOf(row, context_.call.block_tokens, chunk).keys() == 0) continue;
      const PartialSlot slot = PartialSlotAt(context_, split.first_slot + chunk, heads.first);
      if (is_first) {
        finisher_.LoadSinks(heads);
        Load(slot, heads, 0, total_);
      } else {
        context_.accumulator.ReleaseByVector();
        context_.accumulator.Acquire();
        Load(slot, heads, kOutputRows, part_);
        const MergeFactors factors = MergeStatistics(total_, part_, heads.count);
        MergeOutputs(AccumulatorRow(0), AccumulatorRow(0), AccumulatorRow(kOutputRows), factors, 0,
                     {heads.count, kHeadDim});
      }
      is_first = false;
    }
  }

  // Brings a result into UB, its output to rows of the accumulator from `first_row` on.
  __aicore__ inline void Load(const PartialSlot& slot, const HeadRange& heads, int64_t first_row,
                              const HeadStatistics& statistics) const {
    LoadElements(statistics.max, slot.max, heads.count);
    LoadElements(statistics.sum, slot.sum, heads.count);
    LoadElements(AccumulatorRow(first_row), slot.out, heads.count * kHeadDim);
    context_.accumulator.HandToVector();
  }

  VectorContext<T>& context_;
  RowFinisher<T> finisher_;
  const HeadStatistics total_;
  const HeadStatistics part_;
};

}  // namespace sfmla::dav_2201
