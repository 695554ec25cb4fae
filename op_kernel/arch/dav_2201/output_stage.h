// SPDX-License-Identifier: Apache-2.0
// Third stage of a tile on the vector cores: the product of a tile joins the running output of its
// chunk, which stays in UB. At the end of a chunk the result is finished, merged with that of the
// chunks before it, or left for whoever merges the chunks of a split row.
#pragma once

#include "op_kernel/arch/dav_2201/finish_rows.h"
#include "op_kernel/arch/dav_2201/partial_slots.h"
#include "op_kernel/arch/dav_2201/softmax_stage.h"

namespace sfmla::dav_2201 {

template <typename T>
class OutputStage {
 public:
  __aicore__ inline explicit OutputStage(VectorContext<T>* context)
      : context_(*context),
        finisher_(context),
        total_{Ub<float, ub::kTotalMax>(), Ub<float, ub::kTotalSum>()} {}

  __aicore__ inline void Begin() const { finisher_.Begin(); }

  __aicore__ inline void Run(const TileTask& task) {
    AscendC::CrossCoreWaitFlag(cross::kValuesReady);
    if (context_.own_heads.count == 0) return;
    if (task.first_of_chunk) {
      TakeValues(task);
    } else {
      AddValues(task);
    }
    if (task.last_of_chunk) EndChunk(task);
  }

 private:
  __aicore__ inline AscendC::GlobalTensor<float> ValuesAt(const TileTask& task, int64_t row) const {
    const int64_t head = context_.own_heads.first + row;
    const int64_t slot = task.index % kValueSlots * context_.heads;
    return context_.tensors.values[static_cast<uint64_t>((slot + head) * kHeadDim)];
  }
  __aicore__ inline AscendC::GlobalTensor<float> TotalsAt(int64_t row) const {
    const int64_t head = context_.own_heads.first + row;
    return context_.tensors.totals[static_cast<uint64_t>(head * kHeadDim)];
  }
  __aicore__ inline MatrixShape ShapeAt(int64_t row) const {
    return {LesserOf(kOutputRows, context_.own_heads.count - row), kHeadDim};
  }

  // The first product of a chunk is its output so far.
  __aicore__ inline void TakeValues(const TileTask& task) {
    context_.accumulator.Acquire();
    LoadElements(AccumulatorRow(0), ValuesAt(task, 0), context_.own_heads.count * kHeadDim);
    context_.accumulator.HandToVector();
  }

  // accumulator = accumulator * rescale + values
  __aicore__ inline void AddValues(const TileTask& task) {
    const Floats rescale = StateAfter(task.index).rescale;
    const Floats blocks = Ub<float, ub::kRowBlocks>();
    for (int64_t row = 0; row < context_.own_heads.count; row += kOutputRows) {
      const MatrixShape shape = ShapeAt(row);
      LoadTarget& target = LoadInput(ValuesAt(task, row), shape);
      const Floats rows = AccumulatorRow(row);
      SpreadRows(blocks, rescale[static_cast<uint32_t>(row)], shape.rows);
      MultiplyRows(rows, blocks, shape);
      AscendC::Add(rows, rows, context_.input.template Buffer<float>(), shape.elements());
      VectorBarrier();
      target.ReleaseByVector();
    }
  }

  __aicore__ inline LoadTarget& LoadInput(const AscendC::GlobalTensor<float>& source,
                                          const MatrixShape& shape) {
    LoadTarget& target = context_.input.Acquire();
    LoadElements(context_.input.template Buffer<float>(), source, shape.rows * kHeadDim);
    target.HandToVector();
    return target;
  }

  __aicore__ inline void EndChunk(const TileTask& task) {
    const SoftmaxState state = StateAfter(task.index);
    const HeadStatistics chunk{state.max, state.sum};
    if (task.split_slot != kNotSplit) {
      StorePartial(&context_, task.split_slot, chunk);
    } else if (task.first_chunk && task.last_chunk) {
      Finish(task, chunk);
    } else if (task.first_chunk) {
      AscendC::DataCopy(total_.max, chunk.max, kVectorHeads);
      AscendC::DataCopy(total_.sum, chunk.sum, kVectorHeads);
      VectorBarrier();
      StoreTotals();
    } else {
      MergeChunk(chunk);
      if (task.last_chunk) {
        Finish(task, total_);
      } else {
        StoreTotals();
      }
    }
  }

  __aicore__ inline void Finish(const TileTask& task, const HeadStatistics& result) {
    finisher_.Finish(task.row.global_row, context_.own_heads, result);
    context_.accumulator.ReleaseByVector();
  }

  // The accumulator takes in the totals.
  __aicore__ inline void MergeChunk(const HeadStatistics& chunk) {
    const MergeFactors factors = MergeStatistics(total_, chunk, context_.own_heads.count);
    for (int64_t row = 0; row < context_.own_heads.count; row += kOutputRows) {
      const MatrixShape shape = ShapeAt(row);
      LoadTarget& target = LoadInput(TotalsAt(row), shape);
      const Floats rows = AccumulatorRow(row);
      MergeOutputs(rows, context_.input.template Buffer<float>(), rows, factors, row, shape);
      target.ReleaseByVector();
    }
  }

  __aicore__ inline void StoreTotals() {
    context_.HandToStore();
    StoreElements(TotalsAt(0), AccumulatorRow(0), context_.own_heads.count * kHeadDim);
    context_.accumulator.ReleaseByStore();
  }

  VectorContext<T>& context_;
  RowFinisher<T> finisher_;
  const HeadStatistics total_;
};

}  // namespace sfmla::dav_2201
