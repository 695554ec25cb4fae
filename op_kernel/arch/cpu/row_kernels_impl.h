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

// Calls block.Run<n>(begin) for consecutive blocks of n <= kMost of `count` things, as even as may
// be: a small rest would leave the multiply-add unit waiting for its own results.
template <int kMost, typename Block>
inline void RunBlock(int size, int begin, const Block& block) {
  if constexpr (kMost > 0) {
    if (size == kMost) return block.template Run<kMost>(begin);
    RunBlock<kMost - 1>(size, begin, block);
  }
}

template <int kMost, typename Block>
inline void ForBlocks(int count, const Block& block) {
  const int blocks = (count + kMost - 1) / kMost;
  for (int i = 0; i < blocks; ++i) {
    const int begin = count * i / blocks;
    RunBlock<kMost>(count * (i + 1) / blocks - begin, begin, block);
  }
}

// Accumulators of a register block: enough to hide the latency of the multiply-add, few enough to
// leave registers for the operands.
constexpr int kRowSums = kLanes >= 16 ? 16 : 8;
// Heads of a block; with fewer heads it takes more keys, or more columns of the output, instead.
constexpr int kScoreHeads = 4;
constexpr int kAccumulateHeads = kLanes >= 16 ? 8 : 4;

// Asks for its share of the next tile's rows: part `part` of `parts`.
inline void PrefetchShare(const KeyRows& next, int part, int parts) {
  const int end = (part + 1) * next.count / parts;
  for (int row = part * next.count / parts; row < end; ++row) {
    for (int d = 0; d < kDim; d += 32) __builtin_prefetch(next.rows[row] + d);
  }
}

// totals[i] = the sum over the lanes of sums[i], in a fixed order: a block of vectors is transposed
// and added up.
template <int kCount>
inline void SumLanes(const Vec (&sums)[kCount], float* totals) {
#pragma GCC unroll 4
  for (int begin = 0; begin < kCount; begin += kLanes) {
    Vec block[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) block[i] = begin + i < kCount ? sums[begin + i] : Vec{};
    Transpose(block);
#pragma GCC unroll 4
    for (int step = kLanes / 2; step > 0; step /= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < step; ++i) block[i] += block[i + step];
    }
    Store(totals + begin, block[0]);
  }
}

// What the blocks of ScoreRows have in common.
struct ScoreRowsCall {
  const float* query;
  KeyRows keys;
  KeyPart part;
  int padded_heads;
  bool onto_scores;
  float* scores;
};

// Scores of kKeys keys from `key` on and kHeads heads from `head` on; kKeys * kHeads <= kRowSums.
template <ElementType kType, int kKeys, int kHeads>
inline void ScoreRowBlock(const ScoreRowsCall& call, int key, int head) {
  const float* query = call.query + head * call.part.stride;
  const uint16_t* const* rows = call.keys.rows + key;
  Vec sums[kKeys * kHeads] = {};
  for (int d = 0; d < call.part.width; d += kLanes) {
    Vec keys[kKeys];
#pragma GCC unroll 16
    for (int k = 0; k < kKeys; ++k) keys[k] = Widen<kType>(rows[k] + d);
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      const Vec head_elements = Load(query + h * call.part.stride + d);
#pragma GCC unroll 16
      for (int k = 0; k < kKeys; ++k) {
        sums[k * kHeads + h] = Fma(head_elements, keys[k], sums[k * kHeads + h]);
      }
    }
  }
  float totals[(kKeys * kHeads + kLanes - 1) / kLanes * kLanes];
  SumLanes(sums, totals);
#pragma GCC unroll 16
  for (int k = 0; k < kKeys; ++k) {
    float* scores = call.scores + (key + k) * call.padded_heads + head;
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      scores[h] = call.onto_scores ? scores[h] + totals[k * kHeads + h] : totals[k * kHeads + h];
    }
  }
}

template <ElementType kType>
struct ScoreRowsOfHeads {
  ScoreRowsCall call;

  template <int kHeads>
  void Run(int head) const {
    constexpr int kKeys = kRowSums / kHeads;
    int key = 0;
    for (; key + kKeys <= call.keys.count; key += kKeys) {
      ScoreRowBlock<kType, kKeys, kHeads>(call, key, head);
    }
    for (; key < call.keys.count; ++key) ScoreRowBlock<kType, 1, kHeads>(call, key, head);
  }
};

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
  constexpr int kVectors = kRowSums / kHeads;
  constexpr int kColumns = kVectors * kLanes;
  int column = 0;
  for (; column + kColumns <= kDim; column += kColumns) {
    PrefetchShare(next, column / kColumns, kDim / kColumns);
    AccumulateRowBlock<kType, kHeads, kVectors>(scores, rows, keys, padded_heads, rescale, first,
                                                column, out);
  }
  for (; column < kDim; column += kLanes) {
    AccumulateRowBlock<kType, kHeads, 1>(scores, rows, keys, padded_heads, rescale, first, column,
                                         out);
  }
}

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

void ScoreRows(ElementType type, const float* query, const KeyRows& keys, const KeyPart& part,
               const HeadCount& heads, Onto onto, float* scores) {
  // The lanes of no head must hold finite numbers: they go through the softmax too.
  for (int k = 0; k < keys.count; ++k) {
    for (int h = heads.heads; h < heads.padded_heads; ++h) scores[k * heads.padded_heads + h] = 0;
  }
  const ScoreRowsCall call{query, keys, part, heads.padded_heads, onto == Onto::kScores, scores};
  if (type == ElementType::kBfloat16) {
    return ForBlocks<kScoreHeads>(heads.heads, ScoreRowsOfHeads<ElementType::kBfloat16>{call});
  }
  ForBlocks<kScoreHeads>(heads.heads, ScoreRowsOfHeads<ElementType::kFloat16>{call});
}

void AccumulateRows(ElementType type, const float* scores, const uint16_t* const* rows, int keys,
                    int heads, int padded_heads, const float* rescale, bool first,
                    const KeyRows& next, float* out) {
  if (type == ElementType::kBfloat16) {
    return ForBlocks<kAccumulateHeads>(
        heads, AccumulateRowsCall<ElementType::kBfloat16>{scores, rows, keys, padded_heads, rescale,
                                                          first, next, out});
  }
  ForBlocks<kAccumulateHeads>(
      heads, AccumulateRowsCall<ElementType::kFloat16>{scores, rows, keys, padded_heads, rescale,
                                                       first, next, out});
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
