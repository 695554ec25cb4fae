// SPDX-License-Identifier: Apache-2.0
// Attention of one query row (all its heads): tiles -> chunks -> result.
//
// The keys of a chunk are taken some at a time into a tile; a chunk has a softmax of its own
// (maximum, sum, output), chunks are merged left to right, and the sink joins at the end. Tiles and
// chunks are cut by the row's own candidates, so the bits of a row depend on nothing but the row.
#pragma once

#include <array>
#include <cstdint>

#include "op_kernel/arch/cpu/kv_source.h"
#include "op_kernel/arch/cpu/tile_kernels.h"

namespace sfmla {

// Running softmax of a chunk, or of several merged ones: `out` is not yet divided by `sum` and by
// the products' out_scale, and its elements lie as in tile_kernels.h.
struct PartialResult {
  float* max;  // (padded heads)
  float* sum;  // (padded heads)
  float* out;  // heads * kHeadDim
};

// Lays a partial result over SplitSlotFloats(padded_heads) floats.
PartialResult PartialResultAt(float* floats, int64_t padded_heads);

// What a call's rows have in common.
struct AttentionShape {
  int heads = 0;
  ElementType type = ElementType::kFloat16;
  bool has_rope = false;
  float softmax_scale = 1.0f;
  int64_t block_tokens = 0;  // candidates of a block, see RowBlocks
};

// Buffers of one thread.
struct ThreadScratch {
  float* query;         // query row, as TileProducts prepares it
  float* rope_query;    // its rotary part; nullptr without one
  TileBuffers tile;     // keys or values of one tile, prepared
  float* scores;        // scores of one tile
  float* rescale;       // (padded heads)
  float* factor;        // (2, padded heads)
  PartialResult total;  // merged chunks of the row in hand
  PartialResult chunk;  // the chunk in hand, while there is more than one

  static int64_t Bytes(int64_t padded_heads, bool has_rope);
  static ThreadScratch At(void* base, int64_t padded_heads, bool has_rope);
};

// The query row in hand, what it attends to, and what memory is asked for meanwhile: where its
// result goes, and the query that comes next (nullptr: none).
struct AttentionRow {
  const uint16_t* q = nullptr;       // (heads, kHeadDim)
  const uint16_t* q_rope = nullptr;  // (heads, kRopeDim) if the call has it
  KvPart ori;
  KvPart cmp;
  RowBlocks blocks{RowCandidates{}, 1};
  const uint16_t* result = nullptr;  // (heads, kHeadDim)
  const uint16_t* next_q = nullptr;  // (heads, kHeadDim)
};

// Where the softmax of a row goes, (heads) each; nullptr: not wanted. The sink counts in all three.
struct RowStatistics {
  float* lse = nullptr;  // max + ln(sum)
  float* max = nullptr;  // of the scaled scores
  float* sum = nullptr;  // of exp(score - max)
};

class RowAttention {
 public:
  RowAttention(const TileKernels& kernels, const AttentionShape& shape,
               const ThreadScratch& scratch)
      : kernels_(kernels),
        shape_(shape),
        scratch_(scratch),
        heads_(shape.heads),
        padded_heads_(PadHeads(heads_, kernels.head_alignment)),
        products_(kernels.Products(shape.type).For(heads_)) {}

  // Call before the first chunk of a row.
  void BeginRow(const AttentionRow& row) const;

  // One chunk of the row into `result`, which remembers when no key was attended.
  void RunChunk(const AttentionRow& row, int64_t chunk, const PartialResult& result,
                TableFault* fault) const;

  // All chunks, merged, into total().
  void RunRow(const AttentionRow& row, TableFault* fault) const;

  const PartialResult& total() const { return scratch_.total; }

  // total = total merged with part, in this order.
  void Merge(const PartialResult& total, const PartialResult& part) const;

  // Adds the sinks (nullptr: none), divides, rounds. A row without any key becomes 0, its LSE too;
  // its maximum and sum are those of the sinks alone.
  void Finish(const PartialResult& total, const float* sinks, uint16_t* out,
              const RowStatistics& statistics) const;

 private:
  // Addresses that stand behind a NextRows.
  using RowAddresses = std::array<const uint16_t*, kMaxTileKeys>;

  NextRows RowsAfter(const AttentionRow& row, RowAddresses* rows) const;
  void RunTile(const TileRows& tile, bool separate_values, const NextRows& next, bool first,
               const PartialResult& result) const;
  void FinishEmptyRow(const float* sinks, uint16_t* out, const RowStatistics& statistics) const;

  const TileKernels& kernels_;
  const AttentionShape& shape_;
  const ThreadScratch scratch_;
  const int heads_;
  const int padded_heads_;
  const TileProducts& products_;
};

}  // namespace sfmla
