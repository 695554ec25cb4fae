// SPDX-License-Identifier: Apache-2.0
// The two products for few heads, straight from 16-bit keys: lanes run along the head dimension,
// and each key is widened in registers. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

constexpr int kDim = static_cast<int>(kHeadDim);

template <ElementType kType>
inline Vec Widen(const uint16_t* from) {
  const HalfVec half = LoadHalf(from);
  return kType == ElementType::kBfloat16 ? WidenBfloat16(half) : WidenFloat16(half);
}

// One accumulator per lane: a block of accumulators is reduced by transposing it.
constexpr int kRowSums = kLanes;
// Heads of one register block; with fewer heads the block takes more keys or columns instead.
constexpr int kScoreHeads = 4;
constexpr int kAccumulateHeads = kLanes >= 16 ? 8 : 4;

// Asks for its share of the next tile's rows: part `part` of `parts`.
inline void PrefetchShare(const KeyRows& next, int part, int parts) {
  const int end = (part + 1) * next.count / parts;
  for (int row = part * next.count / parts; row < end; ++row) {
    for (int d = 0; d < kDim; d += 32) __builtin_prefetch(next.rows[row] + d);
  }
}

// The sum over the lanes of each vector, in a fixed order.
inline Vec SumsOfLanes(Vec (&sums)[kRowSums]) {
  Transpose(sums);
#pragma GCC unroll 4
  for (int step = kRowSums / 2; step > 0; step /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < step; ++i) sums[i] += sums[i + step];
  }
  return sums[0];
}

// Scores of kKeys keys and kHeads heads; kKeys * kHeads <= kRowSums.
template <ElementType kType, int kKeys, int kHeads>
inline void ScoreRowBlock(const float* query, const uint16_t* const* rows, int padded_heads,
                          float* scores) {
  Vec sums[kRowSums] = {};
  for (int d = 0; d < kDim; d += kLanes) {
    Vec keys[kKeys];
#pragma GCC unroll 16
    for (int k = 0; k < kKeys; ++k) keys[k] = Widen<kType>(rows[k] + d);
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      const Vec head = Load(query + h * kTileStride + d);
#pragma GCC unroll 16
      for (int k = 0; k < kKeys; ++k) {
        sums[k * kHeads + h] = Fma(head, keys[k], sums[k * kHeads + h]);
      }
    }
  }
  const Vec totals = SumsOfLanes(sums);
#pragma GCC unroll 16
  for (int k = 0; k < kKeys; ++k) {
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) scores[k * padded_heads + h] = totals[k * kHeads + h];
  }
}

template <ElementType kType, int kHeads>
inline void ScoreRowsOfHeads(const float* query, const uint16_t* const* rows, int keys,
                             int padded_heads, float* scores) {
  constexpr int kKeys = kRowSums / kHeads;
  int key = 0;
  for (; key + kKeys <= keys; key += kKeys) {
    ScoreRowBlock<kType, kKeys, kHeads>(query, rows + key, padded_heads,
                                        scores + key * padded_heads);
  }
  for (; key < keys; ++key) {
    ScoreRowBlock<kType, 1, kHeads>(query, rows + key, padded_heads, scores + key * padded_heads);
  }
}

// kHeads heads x kVectors vectors of the output; `column` is the first element of a row.
template <ElementType kType, int kHeads, int kVectors>
inline void AccumulateRowBlock(const float* scores, const uint16_t* const* rows, int keys,
                               int padded_heads, const float* rescale, bool first, int column,
                               float* out) {
  Vec sums[kHeads][kVectors];
#pragma GCC unroll 8
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      sums[h][v] = first ? Vec{} : Load(out + h * kDim + column + v * kLanes) * rescale[h];
    }
  }
  for (int k = 0; k < keys; ++k) {
    Vec values[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) values[v] = Widen<kType>(rows[k] + column + v * kLanes);
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      const Vec probability = Broadcast(scores[k * padded_heads + h]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[h][v] = Fma(probability, values[v], sums[h][v]);
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) Store(out + h * kDim + column + v * kLanes, sums[h][v]);
  }
}

template <ElementType kType, int kHeads>
inline void AccumulateRowsOfHeads(const float* scores, const uint16_t* const* rows, int keys,
                                  int padded_heads, const float* rescale, bool first,
                                  const KeyRows& next, float* out) {
  constexpr int kVectors = kHeads >= 3 ? 2 : 8 / kHeads;
  static_assert(kDim % (kVectors * kLanes) == 0);
  constexpr int kColumns = kVectors * kLanes;
  for (int column = 0; column < kDim; column += kColumns) {
    PrefetchShare(next, column / kColumns, kDim / kColumns);
    AccumulateRowBlock<kType, kHeads, kVectors>(scores, rows, keys, padded_heads, rescale, first,
                                                column, out);
  }
}

// Calls block.Run<n>(first head) for kMost heads at a time, then once for what is left.
template <int kHeads, typename Block>
inline void ForHeadsLeft(int heads, int first, const Block& block) {
  if constexpr (kHeads > 0) {
    if (heads == kHeads) return block.template Run<kHeads>(first);
    ForHeadsLeft<kHeads - 1>(heads, first, block);
  }
}

template <int kMost, typename Block>
inline void ForHeadBlocks(int heads, const Block& block) {
  int first = 0;
  for (; first + kMost <= heads; first += kMost) block.template Run<kMost>(first);
  ForHeadsLeft<kMost - 1>(heads - first, first, block);
}

template <ElementType kType>
struct ScoreRowsCall {
  const float* query;
  const uint16_t* const* rows;
  int keys;
  int padded_heads;
  float* scores;

  template <int kHeads>
  void Run(int head) const {
    ScoreRowsOfHeads<kType, kHeads>(query + head * kTileStride, rows, keys, padded_heads,
                                    scores + head);
  }
};

template <ElementType kType>
struct AccumulateRowsCall {
  const float* scores;
  const uint16_t* const* rows;
  int keys;
  int padded_heads;
  const float* rescale;
  bool first;
  KeyRows next;
  float* out;

  template <int kHeads>
  void Run(int head) const {
    // Once is enough: the first block of heads asks for the next tile.
    AccumulateRowsOfHeads<kType, kHeads>(scores + head, rows, keys, padded_heads, rescale + head,
                                         first, head == 0 ? next : KeyRows{}, out + head * kDim);
  }
};

void ScoreRows(ElementType type, const float* query, const uint16_t* const* rows, int keys,
               int heads, int padded_heads, float* scores) {
  // The lanes of no head must hold finite numbers: they go through the softmax too.
  for (int k = 0; k < keys; ++k) {
    for (int h = heads; h < padded_heads; ++h) scores[k * padded_heads + h] = 0;
  }
  if (type == ElementType::kBfloat16) {
    return ForHeadBlocks<kScoreHeads>(
        heads, ScoreRowsCall<ElementType::kBfloat16>{query, rows, keys, padded_heads, scores});
  }
  ForHeadBlocks<kScoreHeads>(
      heads, ScoreRowsCall<ElementType::kFloat16>{query, rows, keys, padded_heads, scores});
}

void AccumulateRows(ElementType type, const float* scores, const uint16_t* const* rows, int keys,
                    int heads, int padded_heads, const float* rescale, bool first,
                    const KeyRows& next, float* out) {
  if (type == ElementType::kBfloat16) {
    return ForHeadBlocks<kAccumulateHeads>(
        heads, AccumulateRowsCall<ElementType::kBfloat16>{scores, rows, keys, padded_heads, rescale,
                                                          first, next, out});
  }
  ForHeadBlocks<kAccumulateHeads>(
      heads, AccumulateRowsCall<ElementType::kFloat16>{scores, rows, keys, padded_heads, rescale,
                                                       first, next, out});
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
