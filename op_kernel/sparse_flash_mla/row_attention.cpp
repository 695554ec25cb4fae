// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/row_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "op_kernel/sparse_flash_mla/workspace_layout.h"

namespace sfmla {
namespace {

constexpr int64_t kBufferAlignment = 64;  // bytes

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A chunk without keys has this maximum; one with keys has at least kLowestScore.
constexpr float kNoKeys = -kInfinity;

bool IsEmpty(const PartialResult& result) { return result.max[0] == kNoKeys; }

// Hands out aligned slices of a buffer, or only counts them when the buffer is nullptr.
class Slices {
 public:
  explicit Slices(void* base) : base_(static_cast<char*>(base)) {}

  float* Floats(int64_t count) {
    char* slice = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += AlignUp(count * static_cast<int64_t>(sizeof(float)), kBufferAlignment);
    return reinterpret_cast<float*>(slice);
  }
  int64_t bytes() const { return bytes_; }

 private:
  char* base_;
  int64_t bytes_ = 0;
};

ThreadScratch Lay(Slices* slices, int64_t padded_heads) {
  ThreadScratch out;
  out.query = slices->Floats(padded_heads * kTileStride);
  out.tile = slices->Floats(kTileKeys * kTileStride);
  out.scores = slices->Floats(kTileKeys * padded_heads);
  out.rescale = slices->Floats(padded_heads);
  out.factor = slices->Floats(2 * padded_heads);
  out.total = PartialResultAt(slices->Floats(SplitSlotFloats(padded_heads)), padded_heads);
  out.chunk = PartialResultAt(slices->Floats(SplitSlotFloats(padded_heads)), padded_heads);
  return out;
}

}  // namespace

PartialResult PartialResultAt(float* floats, int64_t padded_heads) {
  if (floats == nullptr) return {};
  return {floats, floats + padded_heads, floats + 2 * padded_heads};
}

int64_t ThreadScratch::Bytes(int64_t padded_heads) {
  Slices slices(nullptr);
  Lay(&slices, padded_heads);
  return AlignUp(slices.bytes(), kWorkspaceAlignment);
}

ThreadScratch ThreadScratch::At(void* base, int64_t padded_heads) {
  Slices slices(base);
  return Lay(&slices, padded_heads);
}

void RowAttention::BeginRow(const AttentionRow& row) const {
  if (!few_heads()) return kernels_.transpose_query(type_, row.q, heads_, scratch_.query);
  for (int head = 0; head < heads_; ++head) {
    const uint16_t* q = row.q + head * kHeadDim;
    kernels_.widen_rows(type_, &q, 1, scratch_.query + head * kTileStride);
  }
}

void RowAttention::RunTile(const KeyRows& tile, const KeyRows& next, bool first,
                           const PartialResult& result) const {
  const auto [rows, keys] = tile;
  const SoftmaxState state{result.max, result.sum, scratch_.rescale};
  const float scale = tiling_.softmax_scale;
  if (few_heads()) {
    kernels_.score_rows(type_, scratch_.query, rows, keys, heads_, padded_heads_, scratch_.scores);
    kernels_.softmax(scratch_.scores, keys, padded_heads_, scale, state);
    kernels_.accumulate_rows(type_, scratch_.scores, rows, keys, heads_, padded_heads_,
                             scratch_.rescale, first, next, result.out);
    return;
  }
  kernels_.widen_rows(type_, rows, keys, scratch_.tile);
  kernels_.score(scratch_.query, scratch_.tile, keys, padded_heads_, scratch_.scores);
  kernels_.softmax(scratch_.scores, keys, padded_heads_, scale, state);
  kernels_.accumulate(scratch_.scores, scratch_.tile, keys, heads_, padded_heads_, scratch_.rescale,
                      first, next, result.out);
}

void RowAttention::RunChunk(const AttentionRow& row, int64_t chunk, const PartialResult& result,
                            TableFault* fault) const {
  std::fill_n(result.max, padded_heads_, kLowestScore);
  std::fill_n(result.sum, padded_heads_, 0.0f);

  const int64_t block_tokens = tiling_.block_tokens;
  const int64_t begin = chunk * row.blocks.blocks_per_chunk();
  const int64_t end = std::min(begin + row.blocks.blocks_per_chunk(), row.blocks.total());
  const int64_t ori = row.blocks.ori();
  KvCursor ori_keys(row.ori, begin * block_tokens, std::min(end, ori) * block_tokens);
  KvCursor cmp_keys(row.cmp, std::max<int64_t>(begin - ori, 0) * block_tokens,
                    std::max<int64_t>(end - ori, 0) * block_tokens);

  // Two tiles of addresses: while one is computed with, the rows of the other are fetched.
  const uint16_t* addresses[2][kTileKeys];
  int side = 0;
  const auto next_tile = [&]() -> KeyRows {
    const uint16_t** rows = addresses[side];
    side = 1 - side;
    const int count = ori_keys.Fill(rows, 0, kTileKeys, fault);
    return {rows, cmp_keys.Fill(rows, count, kTileKeys, fault)};
  };
  bool first = true;
  KeyRows tile = next_tile();
  while (tile.count > 0 && !fault->found) {
    const KeyRows next = next_tile();
    RunTile(tile, next, first, result);
    tile = next;
    first = false;
  }
  if (first) std::fill_n(result.max, padded_heads_, kNoKeys);
}

void RowAttention::RunRow(const AttentionRow& row, TableFault* fault) const {
  const int64_t chunks = row.blocks.chunks();
  RunChunk(row, 0, scratch_.total, fault);
  for (int64_t chunk = 1; chunk < chunks && !fault->found; ++chunk) {
    RunChunk(row, chunk, scratch_.chunk, fault);
    Merge(scratch_.total, scratch_.chunk);
  }
}

void RowAttention::Merge(const PartialResult& total, const PartialResult& part) const {
  // Without keys there is no output to merge; the buffer may hold anything.
  if (IsEmpty(part)) return;
  if (IsEmpty(total)) std::fill_n(total.out, heads_ * kHeadDim, 0.0f);
  float* total_factor = scratch_.factor;
  float* part_factor = scratch_.factor + padded_heads_;
  for (int head = 0; head < padded_heads_; ++head) {
    const float max = std::max(total.max[head], part.max[head]);
    total_factor[head] = std::exp(total.max[head] - max);
    part_factor[head] = std::exp(part.max[head] - max);
    total.max[head] = max;
    total.sum[head] = total.sum[head] * total_factor[head] + part.sum[head] * part_factor[head];
  }
  kernels_.merge(total.out, total_factor, part.out, part_factor, heads_);
}

void RowAttention::Finish(const PartialResult& total, const float* sinks, uint16_t* out,
                          float* lse) const {
  if (IsEmpty(total)) {
    std::fill_n(out, heads_ * kHeadDim, uint16_t{0});
    if (lse != nullptr) std::fill_n(lse, heads_, 0.0f);
    return;
  }
  float* factor = scratch_.factor;
  for (int head = 0; head < heads_; ++head) {
    const float sink = sinks == nullptr ? -kInfinity : sinks[head];
    if (sink == kInfinity) {
      factor[head] = 0.0f;
      if (lse != nullptr) lse[head] = kInfinity;
      continue;
    }
    const float max = sink > total.max[head] ? sink : total.max[head];
    const float keep = std::exp(total.max[head] - max);
    const float sum = total.sum[head] * keep + std::exp(sink - max);
    factor[head] = keep / sum;
    if (lse != nullptr) lse[head] = max + std::log(sum);
  }
  kernels_.store(type_, total.out, factor, heads_, out);
}

}  // namespace sfmla
