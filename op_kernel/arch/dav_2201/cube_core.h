// SPDX-License-Identifier: Apache-2.0
// The program of a cube core. Per tile two stages: scores = query x keys, then, when the vector
// cores have made them probabilities, output = probabilities x keys.
#pragma once

#include "op_kernel/arch/dav_2201/cube_products.h"
#include "op_kernel/arch/dav_2201/key_loader.h"
#include "op_kernel/arch/dav_2201/work_cursor.h"

namespace sfmla::dav_2201 {

static_assert(l1_event::kKeysCount == static_cast<int32_t>(l1::kKeys.count), "an event per unit");

template <typename T>
class CubeCore {
 public:
  __aicore__ inline CubeCore(const KernelTensors<T>& tensors, const AttentionTiling& call)
      : tensors_(tensors),
        heads_(call.rules.heads),
        padded_heads_(MultipleUp(call.rules.heads, kFractalRows)),
        loader_(tensors, call.rules.layout_kv),
        query_(L1<T, l1::kQuery>()),
        probabilities_(L1<T, l1::kProbabilities>()) {}

  __aicore__ inline void Run(WorkCursor<T>* cursor);

 private:
  using Event = AscendC::HardEvent;

  __aicore__ inline bool NextTile(WorkCursor<T>* cursor, TileTask* task) const;
  __aicore__ inline void BeginBuffers() const;
  __aicore__ inline void EndBuffers() const;

  __aicore__ inline void Scores(const TileTask& task);
  __aicore__ inline void ScoreColumns(const TileTask& task, int64_t begin, int64_t end);
  __aicore__ inline void Values(const TileTask& task);
  __aicore__ inline void ValueColumns(const TileTask& task, int64_t first_column);
  __aicore__ inline void LoadQuery(const TileTask& task) const;
  __aicore__ inline void LoadProbabilities(const TileTask& task) const;
  __aicore__ inline void LoadMatrix(const AscendC::GlobalTensor<T>& source, int64_t pitch,
                                    int64_t columns, const AscendC::LocalTensor<T>& matrix,
                                    int32_t event) const;
  __aicore__ inline AscendC::LocalTensor<T> LoadKeys(const TileTask& task,
                                                     const KeyWindow& window) const;
  __aicore__ inline void ReleaseKeys();

  const KernelTensors<T>& tensors_;
  const int64_t heads_;
  const int64_t padded_heads_;
  const KeyLoader<T> loader_;
  const AscendC::LocalTensor<T> query_;
  const AscendC::LocalTensor<T> probabilities_;
  CubeProducts<T> products_;
  int32_t unit_ = 0;  // next of the ring of key units
};

// The scores of a tile come before the output of the tile before it, so that the vector cores have
// something to do meanwhile.
template <typename T>
__aicore__ inline void CubeCore<T>::Run(WorkCursor<T>* cursor) {
  BeginBuffers();
  TileTask tasks[2];
  bool has_previous = false;
  int32_t side = 0;
  while (true) {
    const bool has_tile = NextTile(cursor, &tasks[side]);
    if (has_tile) Scores(tasks[side]);
    if (has_previous) Values(tasks[side ^ 1]);
    if (!has_tile) break;
    has_previous = true;
    side ^= 1;
  }
  EndBuffers();
}

template <typename T>
__aicore__ inline bool CubeCore<T>::NextTile(WorkCursor<T>* cursor, TileTask* task) const {
  WorkKind kind = cursor->Next(task);
  while (kind == WorkKind::kEmptyRow) kind = cursor->Next(task);
  return kind == WorkKind::kTile;
}

template <typename T>
__aicore__ inline void CubeCore<T>::BeginBuffers() const {
  AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kQuery);
  AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kProbabilities);
  for (int32_t i = 0; i < l1_event::kKeysCount; ++i) {
    AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kKeys + i);
  }
  products_.Begin();
}

template <typename T>
__aicore__ inline void CubeCore<T>::EndBuffers() const {
  AscendC::WaitFlag<Event::MTE1_MTE2>(l1_event::kQuery);
  AscendC::WaitFlag<Event::MTE1_MTE2>(l1_event::kProbabilities);
  for (int32_t i = 0; i < l1_event::kKeysCount; ++i) {
    AscendC::WaitFlag<Event::MTE1_MTE2>(l1_event::kKeys + i);
  }
  products_.End();
}

// Rows of GM to an Nz matrix of padded_heads_ rows; the rows behind heads_ stay as they are, and so
// do the rows of a product that come from them: nobody reads those.
template <typename T>
__aicore__ inline void CubeCore<T>::LoadMatrix(const AscendC::GlobalTensor<T>& source,
                                               int64_t pitch, int64_t columns,
                                               const AscendC::LocalTensor<T>& matrix,
                                               int32_t event) const {
  AscendC::WaitFlag<Event::MTE1_MTE2>(event);
  AscendC::Nd2NzParams params;
  params.ndNum = 1;
  params.nValue = heads_;
  params.dValue = columns;
  params.srcDValue = pitch;
  params.dstNzC0Stride = padded_heads_;
  params.dstNzNStride = 1;
  AscendC::DataCopy(matrix, source, params);
  AscendC::SetFlag<Event::MTE2_MTE1>(event);
  AscendC::WaitFlag<Event::MTE2_MTE1>(event);
}

template <typename T>
__aicore__ inline void CubeCore<T>::LoadQuery(const TileTask& task) const {
  const auto offset = static_cast<uint64_t>(task.row.global_row * heads_ * kHeadDim);
  LoadMatrix(tensors_.q[offset], kHeadDim, kHeadDim, query_, l1_event::kQuery);
}

template <typename T>
__aicore__ inline void CubeCore<T>::LoadProbabilities(const TileTask& task) const {
  const int64_t slot = task.index % kProbabilitySlots * heads_ * kDeviceTileTokens;
  LoadMatrix(tensors_.probabilities[static_cast<uint64_t>(slot)], kDeviceTileTokens, task.keys(),
             probabilities_, l1_event::kProbabilities);
}

template <typename T>
__aicore__ inline AscendC::LocalTensor<T> CubeCore<T>::LoadKeys(const TileTask& task,
                                                                const KeyWindow& window) const {
  const AscendC::LocalTensor<T> unit = L1<T, l1::kKeys>(static_cast<uint32_t>(unit_));
  AscendC::WaitFlag<Event::MTE1_MTE2>(l1_event::kKeys + unit_);
  loader_.Load(task, window, unit);
  AscendC::SetFlag<Event::MTE2_MTE1>(l1_event::kKeys + unit_);
  AscendC::WaitFlag<Event::MTE2_MTE1>(l1_event::kKeys + unit_);
  return unit;
}

template <typename T>
__aicore__ inline void CubeCore<T>::ReleaseKeys() {
  AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kKeys + unit_);
  unit_ = unit_ + 1 == l1_event::kKeysCount ? 0 : unit_ + 1;
}

template <typename T>
__aicore__ inline void CubeCore<T>::Scores(const TileTask& task) {
  if (task.is_gathered()) AscendC::CrossCoreWaitFlag(cross::kKeysGathered);
  if (task.first_of_row) LoadQuery(task);
  for (int64_t begin = 0; begin < task.keys(); begin += kScoreTokens) {
    ScoreColumns(task, begin, LesserOf(begin + kScoreTokens, task.keys()));
  }
  if (task.last_of_row) AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kQuery);
  AscendC::CrossCoreSetFlag<cross::kGroupMode, PIPE_FIX>(cross::kScoresReady);
}

template <typename T>
__aicore__ inline void CubeCore<T>::ScoreColumns(const TileTask& task, int64_t begin, int64_t end) {
  const ProductExtent extent{padded_heads_, end - begin, kStep};
  const int64_t step_elements = MultipleUp(end - begin, kFractalRows) * kStep;
  products_.BeginSum();
  for (int64_t first = 0; first < kHeadDim; first += kScoreElements) {
    const AscendC::LocalTensor<T> keys = LoadKeys(task, {begin, end, first, kScoreElements});
    for (int64_t step = 0; step < kScoreElements / kStep; ++step) {
      products_.BeginOperands();
      products_.LoadLeft(query_, kHeadDim, first + step * kStep, extent);
      products_.LoadRightTransposed(keys[static_cast<uint32_t>(step * step_elements)], extent);
      products_.Multiply(extent);
    }
    ReleaseKeys();
  }
  const int64_t slot = task.index % kScoreSlots * heads_ * kDeviceTileTokens;
  products_.Store(tensors_.scores[static_cast<uint64_t>(slot + begin)], heads_, kDeviceTileTokens,
                  extent);
}

template <typename T>
__aicore__ inline void CubeCore<T>::Values(const TileTask& task) {
  AscendC::CrossCoreWaitFlag(cross::kProbabilitiesReady);
  LoadProbabilities(task);
  for (int64_t column = 0; column < kHeadDim; column += kValueElements) {
    ValueColumns(task, column);
  }
  AscendC::SetFlag<Event::MTE1_MTE2>(l1_event::kProbabilities);
  AscendC::CrossCoreSetFlag<cross::kGroupMode, PIPE_FIX>(cross::kValuesReady);
}

template <typename T>
__aicore__ inline void CubeCore<T>::ValueColumns(const TileTask& task, int64_t first_column) {
  const int64_t columns = MultipleUp(task.keys(), kElementsPerBlock);  // of the probabilities
  products_.BeginSum();
  for (int64_t begin = 0; begin < task.keys(); begin += kValueTokens) {
    const int64_t end = LesserOf(begin + kValueTokens, task.keys());
    const AscendC::LocalTensor<T> keys = LoadKeys(task, {begin, end, first_column, kValueElements});
    for (int64_t token = begin; token < end; token += kStep) {
      // Exactly the keys there are: what lies behind them in L1 may be anything.
      const ProductExtent extent{padded_heads_, kValueElements, LesserOf(kStep, end - token)};
      products_.BeginOperands();
      products_.LoadLeft(probabilities_, columns, token, extent);
      products_.LoadRight(keys, MultipleUp(end - begin, kFractalRows), token - begin, extent);
      products_.Multiply(extent);
    }
    ReleaseKeys();
  }
  const int64_t slot = task.index % kValueSlots * heads_ * kHeadDim;
  products_.Store(tensors_.values[static_cast<uint64_t>(slot + first_column)], heads_, kHeadDim,
                  {padded_heads_, kValueElements, 0});
}

}  // namespace sfmla::dav_2201
