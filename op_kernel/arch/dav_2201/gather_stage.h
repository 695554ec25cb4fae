// SPDX-License-Identifier: Apache-2.0
// First stage of a tile on the vector cores: keys that an index list picks are brought together in
// global memory, where the cube reads them. Both cores of a group walk the whole list and copy
// every other bunch of rows.
#pragma once

#include "op_kernel/arch/dav_2201/key_loader.h"
#include "op_kernel/arch/dav_2201/zero_rows.h"

namespace sfmla::dav_2201 {

template <typename T>
class GatherStage {
 public:
  __aicore__ inline explicit GatherStage(VectorContext<T>* context)
      : context_(*context), layout_(context->call.rules.layout_kv) {}

  // Gathers the listed keys of the tile and counts them.
  __aicore__ inline void Run(TileTask* task) {
    if (!task->is_gathered()) return;
    slot_ = task->index % kKeySlots * kDeviceTileTokens;
    if (task->row.ori.is_listed) {
      GatherPart(context_.tensors.ori, task->row, task->row.ori, 0, &task->ori);
    }
    if (task->row.cmp.is_listed) {
      GatherPart(context_.tensors.cmp, task->row, task->row.cmp, task->ori.size(), &task->cmp);
    }
    AscendC::CrossCoreSetFlag<cross::kGroupMode, PIPE_MTE3>(cross::kKeysGathered);
  }

 private:
  static constexpr int64_t kBunchRows = ub::kInput.bytes / (kHeadElements * kElementBytes);

  // Keys of one part to rows `first_row` ... of the tile, without gaps; zeros behind them, which
  // the cube multiplies with probabilities of 0.
  __aicore__ inline void GatherPart(const KernelCache<T>& cache, const RowTask& row,
                                    const PartTask& part, int64_t first_row, PartTile* tile) {
    next_row_ = first_row;
    BeginBunch();
    for (int64_t i = tile->begin; i < tile->end; ++i) {
      const int64_t token = cache.indices[part.first_index + i];
      if (token < part.range.begin || token >= part.range.end) continue;
      AddToken(cache, row, part, token);
    }
    EndBunch(cache);
    tile->attended = next_row_ - first_row;
    if (context_.sub_block == 0) {
      StoreZeros(&context_, GatheredRow(next_row_), (tile->size() - tile->attended) * kHeadDim);
    }
  }

  __aicore__ inline void AddToken(const KernelCache<T>& cache, const RowTask& row,
                                  const PartTask& part, int64_t token) {
    if (IsOwnBunch()) {
      const int64_t offset = RunAt(cache, layout_, row.request, part.first_token, token).offset;
      const int64_t next = run_.offset + run_.tokens * cache.geometry.token_stride;
      if (run_.tokens > 0 && offset != next) FlushRun(cache);
      if (run_.tokens == 0) run_.offset = offset;
      ++run_.tokens;
    }
    ++next_row_;
    ++rows_in_bunch_;
    if (rows_in_bunch_ == kBunchRows) {
      EndBunch(cache);
      ++bunch_;
      BeginBunch();
    }
  }

  __aicore__ inline bool IsOwnBunch() const { return (bunch_ & 1) == context_.sub_block; }

  __aicore__ inline void BeginBunch() {
    rows_in_bunch_ = 0;
    rows_loaded_ = 0;
    run_ = TokenRun{};
  }

  // One copy per run of tokens that lie behind each other.
  __aicore__ inline void FlushRun(const KernelCache<T>& cache) {
    if (run_.tokens == 0) return;
    if (rows_loaded_ == 0) target_ = &context_.input.Acquire();
    const int64_t row_bytes = kHeadDim * static_cast<int64_t>(sizeof(T));
    AscendC::DataCopyExtParams params = OneBurst(row_bytes);
    params.blockCount = run_.tokens;
    params.srcStride = (cache.geometry.token_stride - kHeadDim) * static_cast<int64_t>(sizeof(T));
    const auto buffer = context_.input.template Buffer<T>();
    AscendC::DataCopyPad(buffer[static_cast<uint32_t>(rows_loaded_ * kHeadDim)],
                         cache.pool[static_cast<uint64_t>(run_.offset)], params,
                         AscendC::DataCopyPadExtParams<T>{false, 0, 0, T{}});
    rows_loaded_ += run_.tokens;
    run_ = TokenRun{};
  }

  __aicore__ inline void EndBunch(const KernelCache<T>& cache) {
    FlushRun(cache);
    if (rows_loaded_ == 0) return;
    target_->HandToStore();
    StoreElements(GatheredRow(next_row_ - rows_loaded_), context_.input.template Buffer<T>(),
                  rows_loaded_ * kHeadDim);
    target_->ReleaseByStore();
  }

  __aicore__ inline AscendC::GlobalTensor<T> GatheredRow(int64_t row) const {
    return context_.tensors.keys[static_cast<uint64_t>((slot_ + row) * kHeadDim)];
  }

  VectorContext<T>& context_;
  const Layout layout_;
  LoadTarget* target_ = nullptr;  // of the bunch in hand
  TokenRun run_;
  int64_t slot_ = 0;
  int64_t next_row_ = 0;  // of the tile
  int64_t bunch_ = 0;
  int64_t rows_in_bunch_ = 0;
  int64_t rows_loaded_ = 0;
};

}  // namespace sfmla::dav_2201
