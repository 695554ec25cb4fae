// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/arch/cpu/row_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "op_kernel/common/workspace_layout.h"

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

ThreadScratch Lay(Slices* slices, int64_t padded_heads, bool has_rope) {
  ThreadScratch out;
  out.query = slices->Floats(QueryFloats(padded_heads, kLatentPart));
  out.tile.latent = slices->Floats(kWidenedKeys * kLatentPart.stride);
  out.rope_query = has_rope ? slices->Floats(QueryFloats(padded_heads, kRopePart)) : nullptr;
  out.tile.rope = has_rope ? slices->Floats(kWidenedKeys * kRopePart.stride) : nullptr;
  out.scores = slices->Floats(kMaxTileKeys * padded_heads);
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

int64_t ThreadScratch::Bytes(int64_t padded_heads, bool has_rope) {
  Slices slices(nullptr);
  Lay(&slices, padded_heads, has_rope);
  return AlignUp(slices.bytes(), kWorkspaceAlignment);
}

ThreadScratch ThreadScratch::At(void* base, int64_t padded_heads, bool has_rope) {
  Slices slices(base);
  return Lay(&slices, padded_heads, has_rope);
}

void RowAttention::BeginRow(const AttentionRow& row) const {
  const HeadCount heads{heads_, padded_heads_};
  products_.prepare_query(row.q, heads, kLatentPart, scratch_.query);
  if (shape_.has_rope) {
    products_.prepare_query(row.q_rope, heads, kRopePart, scratch_.rope_query);
  }
}

// What is needed when the last tile is done, the query first, as far as `rows` has room to list it.
NextRows RowAttention::RowsAfter(const AttentionRow& row, RowAddresses* rows) const {
  int count = 0;
  for (const uint16_t* first : {row.next_q, row.result}) {
    if (first == nullptr) continue;
    for (int head = 0; head < heads_ && count < kMaxTileKeys; ++head) {
      (*rows)[static_cast<size_t>(count++)] = first + head * kHeadDim;
    }
  }
  return {rows->data(), nullptr, nullptr, count};
}

void RowAttention::RunTile(const TileRows& tile, bool separate_values, const NextRows& next,
                           bool first, const PartialResult& result) const {
  const HeadCount heads{heads_, padded_heads_};
  ScoreCall score;
  score.latent = {scratch_.query, tile.key, kLatentPart};
  if (shape_.has_rope) score.rope = {scratch_.rope_query, tile.rope, kRopePart};
  score.keys = tile.count;
  score.heads = heads;
  score.tile = scratch_.tile;
  score.scores = scratch_.scores;
  products_.score(score);

  kernels_.softmax(scratch_.scores, tile.count, padded_heads_, shape_.softmax_scale,
                   {result.max, result.sum, scratch_.rescale});

  AccumulateCall accumulate;
  accumulate.scores = scratch_.scores;
  accumulate.values = separate_values ? tile.value : tile.key;
  accumulate.values_are_keys = !separate_values;
  accumulate.keys = tile.count;
  accumulate.heads = heads;
  accumulate.rescale = scratch_.rescale;
  accumulate.first = first;
  accumulate.next = next;
  accumulate.tile = scratch_.tile;
  accumulate.out = result.out;
  products_.accumulate(accumulate);
}

void RowAttention::RunChunk(const AttentionRow& row, int64_t chunk, const PartialResult& result,
                            TableFault* fault) const {
  std::fill_n(result.max, padded_heads_, kLowestScore);
  std::fill_n(result.sum, padded_heads_, 0.0f);

  const ChunkCandidates candidates = CandidatesOfChunk(row.blocks, shape_.block_tokens, chunk);
  KvCursor ori_keys(row.ori, candidates.ori.begin, candidates.ori.end);
  KvCursor cmp_keys(row.cmp, candidates.cmp.begin, candidates.cmp.end);

  // Two tiles of addresses: while one is computed with, the rows of the other are fetched.
  TileRows tiles[2];
  RowAddresses after;
  int side = 0;
  const auto next_tile = [&]() -> TileRows& {
    TileRows& rows = tiles[side];
    side = 1 - side;
    rows.count = 0;
    ori_keys.Fill(products_.tile_keys, &rows, fault);
    cmp_keys.Fill(products_.tile_keys, &rows, fault);
    return rows;
  };
  const bool separate_values = row.ori.value.exists();
  bool first = true;
  const TileRows* tile = &next_tile();
  while (tile->count > 0 && !fault->found) {
    TileRows& next = next_tile();
    // A list that ends chunks before the row does has nothing asked for, which costs time only.
    const NextRows wanted = next.count == 0 && chunk + 1 == row.blocks.chunks()
                                ? RowsAfter(row, &after)
                                : NextRows{next.key, shape_.has_rope ? next.rope : nullptr,
                                           separate_values ? next.value : nullptr, next.count};
    RunTile(*tile, separate_values, wanted, first, result);
    tile = &next;
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

void RowAttention::FinishEmptyRow(const float* sinks, uint16_t* out,
                                  const RowStatistics& statistics) const {
  std::fill_n(out, heads_ * kHeadDim, uint16_t{0});
  if (statistics.lse != nullptr) std::fill_n(statistics.lse, heads_, 0.0f);
  if (statistics.max == nullptr) return;
  for (int head = 0; head < heads_; ++head) {
    const bool has_sink = sinks != nullptr && sinks[head] != -kInfinity;
    statistics.max[head] = has_sink ? sinks[head] : 0.0f;
    statistics.sum[head] = has_sink ? 1.0f : 0.0f;
  }
}

void RowAttention::Finish(const PartialResult& total, const float* sinks, uint16_t* out,
                          const RowStatistics& statistics) const {
  if (IsEmpty(total)) return FinishEmptyRow(sinks, out, statistics);
  float* factor = scratch_.factor;
  for (int head = 0; head < heads_; ++head) {
    const float sink = sinks == nullptr ? -kInfinity : sinks[head];
    const bool sink_takes_all = sink == kInfinity;
    const float max = sink > total.max[head] ? sink : total.max[head];
    const float keep = sink_takes_all ? 0.0f : std::exp(total.max[head] - max);
    const float sum = sink_takes_all ? 1.0f : total.sum[head] * keep + std::exp(sink - max);
    factor[head] = keep / (sum * products_.out_scale);
    if (statistics.lse != nullptr) statistics.lse[head] = max + std::log(sum);
    if (statistics.max != nullptr) {
      statistics.max[head] = max;
      statistics.sum[head] = sum;
    }
  }
  kernels_.store(shape_.type, total.out, factor, heads_, out);
}

}  // namespace sfmla
