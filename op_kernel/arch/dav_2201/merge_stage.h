// SPDX-License-Identifier: Apache-2.0
// After all tiles: merges the chunks of split rows, left to right, a few heads at a time. Who does
// what follows from the split rows alone, not from the vector records of the plan, because lengths
// that the plan had to guess may differ from those of the call.
#pragma once

#include "op_kernel/arch/dav_2201/partial_slots.h"
#include "op_kernel/arch/dav_2201/work_cursor.h"
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

  // The share of vector core `core` of `cores`.
  __aicore__ inline void Run(const SplitTable& splits, int64_t core, int64_t cores) {
    const int64_t units_per_row = QuotientUp(context_.heads, kOutputRows);
    for (int64_t unit = core; unit < splits.count * units_per_row; unit += cores) {
      const int64_t first = unit % units_per_row * kOutputRows;
      MergeRow(splits.rows[unit / units_per_row],
               {first, LesserOf(kOutputRows, context_.heads - first)});
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
