// SPDX-License-Identifier: Apache-2.0
// Attention of one query row (all its heads): tiles -> chunks -> result.
//
// The keys of a chunk are taken 64 at a time into a tile; a chunk has a softmax of its own
// (maximum, sum, output), chunks are merged left to right, and the sink joins at the end. Tiles and
// chunks are cut by the row's own candidates, so the bits of a row depend on nothing but the row.
#pragma once

#include <cstdint>

#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/sparse_flash_mla/kv_source.h"

namespace sfmla {

// Running softmax of a chunk, or of several merged ones: `out` is not yet divided by `sum`.
struct PartialResult {
  float* max;  // (padded heads)
  float* sum;  // (padded heads)
  float* out;  // (padded heads, kHeadDim)
};

// Lays a partial result over SplitSlotFloats(padded_heads) floats.
PartialResult PartialResultAt(float* floats, int64_t padded_heads);

// Buffers of one thread.
struct ThreadScratch {
  float* query;         // query row, transposed unless there are few heads
  float* tile;          // one tile of widened keys
  float* scores;        // scores of one tile
  float* rescale;       // (padded heads)
  float* factor;        // (2, padded heads)
  PartialResult total;  // merged chunks of the row in hand
  PartialResult chunk;  // the chunk in hand, while there is more than one

  static int64_t Bytes(int64_t padded_heads);
  static ThreadScratch At(void* base, int64_t padded_heads);
};

// The query row in hand and what it attends to.
struct AttentionRow {
  const uint16_t* q = nullptr;  // (heads, kHeadDim)
  KvPart ori;
  KvPart cmp;
  RowBlocks blocks{RowCandidates{}, 1};
};

class RowAttention {
 public:
  RowAttention(const TileKernels& kernels, const SparseFlashMlaTiling& tiling,
               const ThreadScratch& scratch)
      : kernels_(kernels),
        tiling_(tiling),
        scratch_(scratch),
        heads_(tiling.rules.heads),
        padded_heads_(PadHeads(heads_, kernels.head_alignment)),
        type_(tiling.is_bfloat16 ? ElementType::kBfloat16 : ElementType::kFloat16) {}

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

  // Adds the sinks (nullptr: none), divides, rounds. `lse` may be nullptr. A row without any key
  // becomes 0, its LSE too.
  void Finish(const PartialResult& total, const float* sinks, uint16_t* out, float* lse) const;

 private:
  bool few_heads() const { return heads_ <= kernels_.few_heads; }
  void RunTile(const KeyRows& tile, const KeyRows& next, bool first,
               const PartialResult& result) const;

  const TileKernels& kernels_;
  const SparseFlashMlaTiling& tiling_;
  const ThreadScratch scratch_;
  const int heads_;
  const int padded_heads_;
  const ElementType type_;
};

}  // namespace sfmla
