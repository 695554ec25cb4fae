// SPDX-License-Identifier: Apache-2.0
// The inner products of attention on one tile of keys: one table of functions per instruction set.
//
//   scores  (keys, padded_heads) scores, then probabilities, of one tile
//   out     (kHeadDim / kOutColumns, heads, kOutColumns)  running sum of probability x value, times
//           the out_scale of the products
//
// Everything is float32, with one exception: instruction sets that multiply 16-bit numbers take
// such inputs as they are and round probabilities to their type (rounds_weights). The forms that
// queries and keys are brought into, and the order of elements in `out`, are the kernels' own
// affair (see vector.h); no result depends on them.
//
// `padded_heads` is PadHeads(heads); the padding lanes of `scores` hold the scores of a query of
// zeros, which nothing reads but their own lanes. Summation order is fixed by the instruction set,
// the number of heads (see For) and the keys of the tile: over d for a score, over keys, one by one
// or some at a time, for an output element. How kernels cut heads and keys into register blocks
// changes no result.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

inline constexpr int kMaxTileKeys = 128;

// The product of a tile runs over all heads for some columns before it turns to the next ones. What
// it adds to lies together then; rows of 2 KiB would all fall onto the same few cache sets.
inline constexpr int kOutColumns = 64;

// Where in `out` element d of a head is, up to the order of elements within kOutColumns. Inline at
// any rate, like all that files with flags of their own use: no other file may get their code.
[[gnu::always_inline]] constexpr int64_t OutOffset(int heads, int head, int d) {
  return (static_cast<int64_t>(d / kOutColumns) * heads + head) * kOutColumns + d % kOutColumns;
}

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

struct HeadCount {
  int heads;
  int padded_heads;
};

// What a score sums over: a query that prepare_query made, and the keys of a tile.
struct ScorePart {
  const float* query = nullptr;
  const uint16_t* const* keys = nullptr;
  KeyPart part{0, 0};  // of width 0: there is no such part
};

// Keys that a product widens at a time. Those of larger tiles it takes as they are, or copies some.
inline constexpr int kWidenedKeys = 64;

// Room for the keys of a tile, or for some columns of its values, in the form that the products
// take them.
struct TileBuffers {
  float* latent = nullptr;  // kWidenedKeys * kLatentPart.stride
  float* rope = nullptr;    // kWidenedKeys * kRopePart.stride; nullptr without rotary part
};

// Rows that a product asks memory for meanwhile, such as those of the tile to come.
struct NextRows {
  const uint16_t* const* keys = nullptr;    // kHeadDim elements each
  const uint16_t* const* rope = nullptr;    // kRopeDim; nullptr: there are none
  const uint16_t* const* values = nullptr;  // kHeadDim; nullptr: there are none but the keys
  int count = 0;

  // Without the first `rows`.
  [[gnu::always_inline]] NextRows After(int rows) const {
    if (rows >= count) return {};
    return {keys + rows, rope == nullptr ? nullptr : rope + rows,
            values == nullptr ? nullptr : values + rows, count - rows};
  }
};

// Up to so many heads at most have products of their own.
inline constexpr int kMostFewHeads = 32;

// Room for a prepared query. With few heads its rows are as far apart as those of keys.
constexpr int64_t QueryFloats(int64_t padded_heads, const KeyPart& part) {
  const int64_t rows = padded_heads < kMostFewHeads ? padded_heads : kMostFewHeads;
  return padded_heads * part.width + rows * (part.stride - part.width);
}

struct ScoreCall {
  ScorePart latent;
  ScorePart rope;
  int keys = 0;
  HeadCount heads{0, 0};
  TileBuffers tile;
  float* scores = nullptr;
};

struct AccumulateCall {
  float* scores = nullptr;  // probabilities; spent afterwards
  const uint16_t* const* values = nullptr;
  bool values_are_keys = false;  // and `tile` is as the scores of the same tile left it
  int keys = 0;
  HeadCount heads{0, 0};
  const float* rescale = nullptr;
  bool first = false;
  NextRows next;
  TileBuffers tile;
  float* out = nullptr;
};

// The two products, in one way to compute them.
struct TileProducts {
  int tile_keys;  // of a full tile, at most kMaxTileKeys

  // q (heads, part.width) -> query, of QueryFloats(padded_heads, part).
  void (*prepare_query)(const uint16_t* q, const HeadCount& heads, const KeyPart& part,
                        float* query);

  // scores[k][h] = sum over d of query[h][d] * key[k][d], latent part first
  void (*score)(const ScoreCall& call);

  // out[h] = (first ? 0 : out[h] * rescale[h]) + sum over k of out_scale * scores[k][h] * value[k]
  void (*accumulate)(const AccumulateCall& call);

  bool rounds_weights;  // accumulate rounds scaled probabilities to the type of the values
  float out_scale;      // a power of two
};

// Few heads have products of their own, because there preparing a tile costs more than it saves.
struct TypeProducts {
  int few_heads;  // up to so many, at most kMostFewHeads
  TileProducts few;
  TileProducts many;

  constexpr const TileProducts& For(int heads) const { return heads <= few_heads ? few : many; }
};

struct TileKernels {
  const char* name;    // the value of SFMLA_ISA
  int head_alignment;  // heads are padded to a multiple of this
  TypeProducts float16;
  TypeProducts bfloat16;

  constexpr const TypeProducts& Products(ElementType type) const {
    return type == ElementType::kBfloat16 ? bfloat16 : float16;
  }

  // scores -> exp(scores * scale - max), with max, sum and rescale brought up to date. Start with
  // max = kLowestScore, sum = 0.
  void (*softmax)(float* scores, int keys, int padded_heads, float scale, SoftmaxState state);

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

// All that can run here, best first. Asks the system for what it must permit.
std::vector<const TileKernels*> UsableTileKernels();

// One of them by name; "" asks for the best.
Result<const TileKernels*> SelectTileKernels(const char* isa);

}  // namespace sfmla
