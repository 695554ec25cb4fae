// SPDX-License-Identifier: Apache-2.0
// The inner products of attention on one tile of keys: one table of functions per instruction set.
//
// Everything is float32 and laid out so that neither product packs or transposes the keys:
//
//   tile    (keys, stride)       widened KV rows, key and value at once
//   query   (width, heads)       transposed query rows, in panels: see transpose_query
//   scores  (keys, padded_heads) scores, then probabilities, of one tile
//   out     (heads, kHeadDim)    running sum of probability x value
//
// Elements of a widened row stand in an order of our own (see vector.h), in query, tile and out
// alike; no result depends on it.
//
// `padded_heads` is PadHeads(heads); the padding lanes hold zeros in `query` and finite numbers in
// `scores`. Summation order is fixed by the arguments alone: over d for a score, over keys for an
// output element, so results do not depend on how a caller groups heads or keys into blocks.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

inline constexpr int kTileKeys = 64;

// A run of elements that query and key multiply: how many, and how far apart widened rows lie.
struct KeyPart {
  int width;
  int stride;
};
// 2 KiB rows would all fall onto the same few cache sets; one more cache line avoids that.
inline constexpr KeyPart kLatentPart{static_cast<int>(kHeadDim), static_cast<int>(kHeadDim) + 16};
inline constexpr KeyPart kRopePart{static_cast<int>(kRopeDim), static_cast<int>(kRopeDim) + 16};

enum class ElementType : int32_t { kFloat16 = 0, kBfloat16 = 1 };

// Per head: running maximum, running sum, and the factor the last tile rescaled by.
struct SoftmaxState {
  float* max;
  float* sum;
  float* rescale;
};

// What a product starts from.
enum class Onto : uint8_t { kNothing, kScores };

struct HeadCount {
  int heads;
  int padded_heads;
};

// What a score sums over: heads of the query, `part.stride` apart, and the keys of a tile.
struct ScorePart {
  const float* query = nullptr;
  const uint16_t* const* keys = nullptr;
  KeyPart part{0, 0};  // of width 0: there is no such part
};

// The rows of the tile to come, which a product asks memory for meanwhile.
struct NextRows {
  const uint16_t* const* keys = nullptr;
  const uint16_t* const* rope = nullptr;  // nullptr: there are none
  int count = 0;
};

struct TileKernels {
  const char* name;    // the value of SFMLA_ISA
  int head_alignment;  // heads are padded to a multiple of this
  int few_heads;       // up to so many heads the *_rows products are the faster ones

  // rows[k] -> tile row k, widened to float32 in an order of elements that only `store` undoes.
  void (*widen_rows)(ElementType type, const uint16_t* const* rows, int num_rows,
                     const KeyPart& part, float* tile);

  // q (heads, width) -> query, zero-padded to padded_heads: panels of a few vectors of heads,
  // (width, heads of the panel) each.
  void (*transpose_query)(ElementType type, const uint16_t* q, int heads, const KeyPart& part,
                          float* query);

  // scores[k][h] = (0 or scores[k][h]) + sum over d of query[d][h] * tile[k][d]
  void (*score)(const float* query, const float* tile, int keys, const KeyPart& part,
                int padded_heads, Onto onto, float* scores);

  // scores -> exp(scores * scale - max), with max, sum and rescale brought up to date. Start with
  // max = kLowestScore, sum = 0.
  void (*softmax)(float* scores, int keys, int padded_heads, float scale, SoftmaxState state);

  // out[h] = (first ? 0 : out[h] * rescale[h]) + sum over k of scores[k][h] * tile[k].
  void (*accumulate)(const float* scores, const float* tile, int keys, int heads, int padded_heads,
                     const float* rescale, bool first, const NextRows& next, float* out);

  // The same two products for few heads, where widening a tile costs more than it saves: the keys
  // are read as they are and heads of the query are rows that widen_rows made. The order of
  // summation is fixed too, but another one.
  void (*score_rows)(ElementType type, const ScorePart& latent, const ScorePart& rope, int keys,
                     const HeadCount& heads, float* scores);
  void (*accumulate_rows)(ElementType type, const float* scores, const uint16_t* const* rows,
                          int keys, int heads, int padded_heads, const float* rescale, bool first,
                          const NextRows& next, float* out);

  // out = out * out_factor + part * part_factor, factors per head
  void (*merge)(float* out, const float* out_factor, const float* part, const float* part_factor,
                int heads);

  // result[h] = round(out[h] * factor[h]), half to even
  void (*store)(ElementType type, const float* out, const float* factor, int heads,
                uint16_t* result);

  // Nothing but multiply-adds, `steps` times in as many independent chains as the unit needs: the
  // ceiling that benchmarks compare with. Returns the number of floating-point operations.
  int64_t (*peak)(int64_t steps);
};

inline constexpr float kLowestScore = -3.402823466e+38f;

constexpr int PadHeads(int heads, int alignment) {
  return (heads + alignment - 1) / alignment * alignment;
}

// The table for this process: SFMLA_ISA if set, else the best the processor runs. An error if
// SFMLA_ISA names none that was built and can run here.
const Result<const TileKernels*>& ProcessTileKernels();

// The same for a given name; "" asks for the best.
Result<const TileKernels*> SelectTileKernels(const char* isa);

}  // namespace sfmla
