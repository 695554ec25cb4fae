// SPDX-License-Identifier: Apache-2.0
// The program of a vector core. Per tile three stages: gather its keys, softmax, output. While one
// tile is in one of them the cube works on its neighbours.
#pragma once

#include "op_kernel/arch/dav_2201/gather_stage.h"
#include "op_kernel/arch/dav_2201/merge_stage.h"
#include "op_kernel/arch/dav_2201/output_stage.h"
#include "op_kernel/arch/dav_2201/softmax_stage.h"
#include "op_kernel/arch/dav_2201/work_cursor.h"

namespace sfmla::dav_2201 {

template <typename T>
class VectorCore {
 public:
  // Vector core `core` of `cores`.
  __aicore__ inline VectorCore(const KernelTensors<T>& tensors, const AttentionTiling& call,
                               int64_t core, int64_t cores, int64_t sub_block)
      : context_(tensors, call, sub_block),
        core_(core),
        cores_(cores),
        gather_(&context_),
        softmax_(&context_),
        output_(&context_),
        merge_(&context_) {}

  __aicore__ inline void Run(WorkCursor<T>* cursor, const SplitTable& splits) {
    context_.Begin();
    softmax_.Begin();
    output_.Begin();
    ZeroPaddedRows(&context_, core_, cores_);
    RunTiles(cursor);
    context_.End();
    // Partial results come from other cores.
    if (splits.count == 0) return;
    AscendC::SyncAll();
    context_.Begin();
    merge_.Run(splits, core_, cores_);
    context_.End();
  }

 private:
  // A stage works on a tile one step after the stage before it.
  __aicore__ inline void RunTiles(WorkCursor<T>* cursor) {
    constexpr int64_t kStages = 3;
    TileTask tasks[kStages];
    bool has_more = true;
    int64_t tiles = 0;
    for (int64_t step = 0; has_more || step < tiles + kStages - 1; ++step) {
      if (has_more) has_more = NextTile(cursor, &tasks[step % kStages]);
      if (has_more) {
        ++tiles;
        gather_.Run(&tasks[step % kStages]);
      }
      if (step >= 1 && step - 1 < tiles) softmax_.Run(tasks[(step - 1) % kStages]);
      if (step >= 2 && step - 2 < tiles) output_.Run(tasks[(step - 2) % kStages]);
    }
  }

  // Rows without keys need no tile; they become zeros on the way.
  __aicore__ inline bool NextTile(WorkCursor<T>* cursor, TileTask* task) {
    WorkKind kind = cursor->Next(task);
    for (; kind == WorkKind::kEmptyRow; kind = cursor->Next(task)) {
      ZeroHeads(&context_, task->row.global_row, context_.own_heads);
    }
    return kind == WorkKind::kTile;
  }

  VectorContext<T> context_;
  const int64_t core_;
  const int64_t cores_;
  GatherStage<T> gather_;
  SoftmaxStage<T> softmax_;
  OutputStage<T> output_;
  MergeStage<T> merge_;
};

}  // namespace sfmla::dav_2201
