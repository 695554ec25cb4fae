// SPDX-License-Identifier: Apache-2.0
// Walks over the work that the plan gives to one group of cores, tile by tile. A group takes record
// `group`, and every number-of-groups-th one behind it, so a plan may have more records than the
// launch has groups.
#pragma once

#include "op_kernel/arch/dav_2201/plan_records.h"
#include "op_kernel/arch/dav_2201/row_task.h"

namespace sfmla::dav_2201 {

enum class WorkKind : int32_t { kEnd, kTile, kEmptyRow };

template <typename T>
class WorkCursor {
 public:
  __aicore__ inline WorkCursor(const KernelTensors<T>& tensors, const AttentionTiling& call,
                               const SplitTable& splits, int64_t group, int64_t groups)
      : tensors_(tensors), call_(call), splits_(splits), groups_(groups), next_record_(group) {}

  // The next tile, or the next row of this group without any key (only `row` of the task is set).
  __aicore__ inline WorkKind Next(TileTask* task) {
    while (true) {
      while (!row_is_open_) {
        if (!NextRow()) return WorkKind::kEnd;
        OpenRow();
        if (!row_.has_keys && split_ == nullptr) {
          row_is_open_ = false;
          task->row = row_;
          return WorkKind::kEmptyRow;
        }
      }
      if (NextTile(task)) return WorkKind::kTile;
      row_is_open_ = false;
    }
  }

 private:
  __aicore__ inline bool NextRecord() {
    if (next_record_ >= kCubeRecords) return false;
    record_ = CubeRecordAt(tensors_.metadata, next_record_);
    next_record_ += groups_;
    request_ = static_cast<int64_t>(record_.request_start) - 1;
    rows_ = RowRange{};
    return record_.enable != 0;
  }

  // Moves on to the next row that this group has a part of.
  __aicore__ inline bool NextRow() {
    while (true) {
      for (; rows_.begin < rows_.end; ++rows_.begin) {
        split_ = splits_.Find(request_, rows_.begin);
        if (split_ != nullptr || !BeganEarlier(record_, request_, rows_.begin)) return true;
      }
      if (request_ < LastRequest()) {
        ++request_;
        lengths_ = tensors_.lengths.At(request_);
        rows_ = RowsOf(record_, request_, lengths_.query);
      } else if (!NextRecord()) {
        return false;
      }
    }
  }
  __aicore__ inline int64_t LastRequest() const {
    return LesserOf(record_.request_end, call_.batch - 1);
  }

  // Makes the task of the row, and its first and last chunk that have candidates.
  __aicore__ inline void OpenRow() {
    const int64_t row = rows_.begin++;
    row_ = RowTaskOf(tensors_, call_, lengths_, request_, row);
    chunks_ = {0, row_.blocks.chunks()};
    if (split_ != nullptr) chunks_ = SplitChunksOf(record_, request_, row, row_.blocks);
    if (!row_.has_keys) chunks_.end = chunks_.begin;
    while (chunks_.begin < chunks_.end && ChunkKeys(chunks_.begin) == 0) ++chunks_.begin;
    while (chunks_.begin < chunks_.end && ChunkKeys(chunks_.end - 1) == 0) --chunks_.end;
    chunk_ = chunks_.begin;
    used_ = 0;
    row_is_open_ = true;
  }
  __aicore__ inline int64_t ChunkKeys(int64_t chunk) const {
    return ChunkTaskOf(row_, call_.block_tokens, chunk).keys();
  }

  __aicore__ inline bool NextTile(TileTask* task) {
    while (chunk_ < chunks_.end) {
      const ChunkTask chunk = ChunkTaskOf(row_, call_.block_tokens, chunk_);
      if (used_ < chunk.keys()) {
        FillTile(chunk, task);
        return true;
      }
      ++chunk_;
      used_ = 0;
    }
    return false;
  }

  __aicore__ inline void FillTile(const ChunkTask& chunk, TileTask* task) {
    const int64_t end = LesserOf(used_ + kDeviceTileTokens, chunk.keys());
    task->index = tiles_++;
    task->row = row_;
    task->ori.begin = chunk.ori.begin + LesserOf(used_, chunk.ori.size());
    task->ori.end = chunk.ori.begin + LesserOf(end, chunk.ori.size());
    task->cmp.begin = chunk.cmp.begin + GreaterOf(used_ - chunk.ori.size(), 0);
    task->cmp.end = chunk.cmp.begin + GreaterOf(end - chunk.ori.size(), 0);
    task->ori.attended = task->ori.size();
    task->cmp.attended = task->cmp.size();
    task->first_of_chunk = used_ == 0;
    task->last_of_chunk = end == chunk.keys();
    task->first_chunk = chunk_ == chunks_.begin;
    task->last_chunk = chunk_ + 1 == chunks_.end;
    task->first_of_row = task->first_chunk && task->first_of_chunk;
    task->last_of_row = task->last_chunk && task->last_of_chunk;
    task->split_slot = split_ == nullptr ? kNotSplit : split_->first_slot + chunk_;
    used_ = end;
  }

  const KernelTensors<T>& tensors_;
  const AttentionTiling& call_;
  const SplitTable& splits_;
  const int64_t groups_;
  int64_t next_record_;
  CubeRecord record_{};
  int64_t request_ = 0;
  RequestLengths lengths_;
  RowRange rows_;
  const SplitRow* split_ = nullptr;
  RowTask row_;
  ChunkRange chunks_;
  int64_t chunk_ = 0;
  int64_t used_ = 0;  // candidates of the chunk in hand that earlier tiles hold
  int64_t tiles_ = 0;
  bool row_is_open_ = false;
};

}  // namespace sfmla::dav_2201
