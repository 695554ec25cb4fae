// SPDX-License-Identifier: Apache-2.0
// Second stage of a tile on the vector cores: scores become probabilities, relative to the running
// maximum of the chunk, and the running maximum and sum are brought up to date.
#pragma once

#include "op_kernel/arch/dav_2201/zero_rows.h"

namespace sfmla::dav_2201 {

// Running maximum and sum of the heads of this core, and the factor that what was summed up before
// the tile is to be multiplied by.
struct SoftmaxState {
  Floats max;
  Floats sum;
  Floats rescale;
};

// State after tile `index`. The state before it is still needed when the one after it is made.
__aicore__ inline SoftmaxState StateAfter(int64_t index) {
  const auto parity = static_cast<uint32_t>(index % 2);
  return {Ub<float, ub::kRunningMax>(parity), Ub<float, ub::kRunningSum>(parity),
          Ub<float, ub::kRescale>(parity)};
}

template <typename T>
class SoftmaxStage {
 public:
  __aicore__ inline explicit SoftmaxStage(VectorContext<T>* context) : context_(*context) {}

  // The state that a chunk starts with.
  __aicore__ inline void Begin() const {
    AscendC::Duplicate(Ub<float, ub::kNoMax>(), kLowestFloat, kVectorHeads);
    AscendC::Duplicate(Ub<float, ub::kNoSum>(), 0.0f, kVectorHeads);
    VectorBarrier();
  }

  __aicore__ inline void Run(const TileTask& task) {
    AscendC::CrossCoreWaitFlag(cross::kScoresReady);
    if (task.attended() == 0) {
      Skip(task);
    } else {
      const int64_t columns = MultipleUp(task.keys(), kRepeatFloats);
      const int64_t rows = RowsPerBlock(columns);
      const int64_t heads = context_.own_heads.count;
      for (int64_t row = 0; row < heads; row += rows) {
        RunBlock(task, row, {LesserOf(rows, heads - row), columns});
      }
    }
    AscendC::CrossCoreSetFlag<cross::kGroupMode, PIPE_MTE3>(cross::kProbabilitiesReady);
  }

 private:
  // Whole blocks of float32, as many as fit into an input buffer.
  __aicore__ inline static int64_t RowsPerBlock(int64_t columns) {
    constexpr int64_t kInputFloats = ub::kInput.bytes / kFloatBytes;
    constexpr int64_t kMostRows = ub::kRowBlocks.bytes / kBlockBytes;
    const int64_t rows = kInputFloats / columns / kFloatsPerBlock * kFloatsPerBlock;
    return LesserOf(rows, kMostRows);
  }

  __aicore__ inline SoftmaxState StateBefore(const TileTask& task) const {
    SoftmaxState state = StateAfter(task.index + 1);
    if (task.first_of_chunk) {
      state.max = Ub<float, ub::kNoMax>();
      state.sum = Ub<float, ub::kNoSum>();
    }
    return state;
  }

  __aicore__ inline uint64_t SlotOffset(const TileTask& task, int64_t slots, int64_t row) const {
    const int64_t head = context_.own_heads.first + row;
    return static_cast<uint64_t>((task.index % slots * context_.heads + head) * kDeviceTileTokens);
  }

  // No key of the tile counts: probabilities of 0, nothing changes.
  __aicore__ inline void Skip(const TileTask& task) {
    if (context_.own_heads.count == 0) return;
    const SoftmaxState before = StateBefore(task);
    const SoftmaxState after = StateAfter(task.index);
    AscendC::DataCopy(after.max, before.max, kVectorHeads);
    AscendC::DataCopy(after.sum, before.sum, kVectorHeads);
    AscendC::Duplicate(after.rescale, 1.0f, kVectorHeads);
    VectorBarrier();
    for (int64_t row = 0; row < context_.own_heads.count; ++row) {
      StoreZeros(&context_,
                 context_.tensors.probabilities[SlotOffset(task, kProbabilitySlots, row)],
                 task.keys());
    }
  }

  __aicore__ inline void RunBlock(const TileTask& task, int64_t row, const MatrixShape& shape) {
    LoadTarget& target = context_.input.Acquire();
    const Floats scores = context_.input.template Buffer<float>();
    LoadScores(task, row, shape, scores);
    target.HandToVector();
    context_.output.Acquire();
    Exponentials(task, row, shape, scores);
    const auto probabilities = context_.output.template Buffer<T>();
    AscendC::Cast(probabilities, scores, AscendC::RoundMode::CAST_RINT, shape.elements());
    context_.output.HandToStore();
    target.ReleaseByVector();
    StoreProbabilities(task, row, shape, probabilities);
    context_.output.Release();
  }

  __aicore__ inline void LoadScores(const TileTask& task, int64_t row, const MatrixShape& shape,
                                    const Floats& scores) const {
    const int64_t bytes = task.keys() * static_cast<int64_t>(sizeof(float));
    AscendC::DataCopyExtParams params = OneBurst(bytes);
    params.blockCount = shape.rows;
    params.srcStride = kDeviceTileTokens * static_cast<int64_t>(sizeof(float)) - bytes;
    params.dstStride = shape.row_blocks() - QuotientUp(bytes, kBlockBytes);
    AscendC::DataCopyPad(scores, context_.tensors.scores[SlotOffset(task, kScoreSlots, row)],
                         params, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
  }

  __aicore__ inline void StoreProbabilities(const TileTask& task, int64_t row,
                                            const MatrixShape& shape,
                                            const AscendC::LocalTensor<T>& probabilities) const {
    const int64_t bytes = task.keys() * static_cast<int64_t>(sizeof(T));
    AscendC::DataCopyExtParams params = OneBurst(bytes);
    params.blockCount = shape.rows;
    params.srcStride = shape.columns / kElementsPerBlock - QuotientUp(bytes, kBlockBytes);
    params.dstStride = kDeviceTileTokens * static_cast<int64_t>(sizeof(T)) - bytes;
    AscendC::DataCopyPad(context_.tensors.probabilities[SlotOffset(task, kProbabilitySlots, row)],
                         probabilities, params);
  }

  // Scores to exp(scores * scale - maximum), columns without a key to 0. The output buffer is
  // scratch until it takes the result.
  __aicore__ inline void Exponentials(const TileTask& task, int64_t row, const MatrixShape& shape,
                                      const Floats& scores) const {
    const auto at = static_cast<uint32_t>(row);
    const auto rows = static_cast<int32_t>(shape.rows);
    const SoftmaxState before = StateBefore(task);
    const SoftmaxState after = StateAfter(task.index);
    const Floats of_tile = Ub<float, ub::kHeadScratch>();
    const Floats folded = context_.output.template Buffer<float>();
    const Floats row_blocks = Ub<float, ub::kRowBlocks>();

    ScaleColumns(scores, shape, task.keys(), context_.call.softmax_scale);
    FillColumns(scores, shape, task.ori.attended, task.ori.size(), kLowestFloat);
    FillColumns(scores, shape, task.ori.size() + task.cmp.attended, shape.columns, kLowestFloat);
    RowMaximum(of_tile, scores, shape, folded);
    AscendC::Max(after.max[at], before.max[at], of_tile, rows);
    VectorBarrier();
    AscendC::Sub(after.rescale[at], before.max[at], after.max[at], rows);
    SpreadRows(row_blocks, after.max[at], shape.rows);
    AscendC::Exp(after.rescale[at], after.rescale[at], rows);
    SubtractRows(scores, row_blocks, shape);
    AscendC::Exp(scores, scores, shape.elements());
    AscendC::Mul(after.sum[at], before.sum[at], after.rescale[at], rows);
    VectorBarrier();
    RowSum(of_tile, scores, shape, folded);
    AscendC::Add(after.sum[at], after.sum[at], of_tile, rows);
    VectorBarrier();
  }

  VectorContext<T>& context_;
};

}  // namespace sfmla::dav_2201
