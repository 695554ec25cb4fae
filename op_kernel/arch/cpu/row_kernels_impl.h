// SPDX-License-Identifier: Apache-2.0
// The two products for few heads, straight from 16-bit keys: lanes run along the head dimension,
// and each key is widened in registers. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

constexpr int kDim = static_cast<int>(kHeadDim);

template <ElementType kType>
inline VecPair WidenPair(const uint16_t* from) {
  return kType == ElementType::kBfloat16 ? WidenPairBfloat16(from) : WidenPairFloat16(from);
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

constexpr int kLineElements = 32;  // of a 64-byte cache line

template <int kColumns>
[[gnu::always_inline]] inline void PrefetchColumns(const uint16_t* row, int begin, int width) {
  // A block of columns that is narrower than a line shares it with its neighbours.
  if (kColumns < kLineElements && begin % kLineElements != 0) return;
  for (int d = begin; d < begin + kColumns && d < width; d += kLineElements) {
    __builtin_prefetch(row + d, 0, 2);
  }
}

// Asks for some columns of a row of the next tile. Only a few lines at a time: a burst would hold
// up the loads of this tile. And not into the first-level cache, which no tile fits into. The
// compiler takes a call of it for one without effect, so there must be none.
template <int kColumns>
[[gnu::always_inline]] inline void Prefetch(const NextRows& next, int row, int column) {
  if (row >= next.count) return;
  PrefetchColumns<kColumns>(next.keys[row], column, kDim);
  if (next.rope != nullptr) PrefetchColumns<kColumns>(next.rope[row], column, kRopePart.width);
}

// totals[i] = the sum over the lanes of sums[i].
template <int kCount>
[[gnu::always_inline]] inline void SumLanes(const Vec (&sums)[kCount], float* totals) {
#pragma GCC unroll 4
  for (int begin = 0; begin < kCount; begin += kLanes) {
    Vec block[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) block[i] = begin + i < kCount ? sums[begin + i] : Vec{};
    SumRows(block);
    Store(totals + begin, block[0]);
  }
}

// sums[k * kHeads + h] += query head h x key k, over the width of the part.
template <ElementType kType, int kKeys, int kHeads>
[[gnu::always_inline]] inline void AddProducts(const ScorePart& part, int key, int head,
                                               Vec (&sums)[kKeys * kHeads]) {
  const int stride = part.part.stride;
  const float* query = part.query + head * stride;
  const uint16_t* const* rows = part.keys + key;
  for (int d = 0; d < part.part.width; d += kPairLanes) {
    VecPair keys[kKeys];
#pragma GCC unroll 16
    for (int k = 0; k < kKeys; ++k) keys[k] = WidenPair<kType>(rows[k] + d);
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      const Vec first = InRegister(Load(query + h * stride + d));
      const Vec second = InRegister(Load(query + h * stride + d + kLanes));
#pragma GCC unroll 16
      for (int k = 0; k < kKeys; ++k) {
        Vec& sum = sums[k * kHeads + h];
        sum = Fma(second, keys[k].second, Fma(first, keys[k].first, sum));
      }
    }
  }
}

constexpr int FloorPowerOfTwo(int value) {
  int power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}

// What the blocks of ScoreRows have in common.
struct ScoreRowsCall {
  ScorePart latent;
  ScorePart rope;  // width 0: there is none
  int keys;
  int padded_heads;
  float* scores;
};

// Scores of kKeys keys from `key` on and kHeads heads from `head` on; kKeys * kHeads <= kRowSums.
template <ElementType kType, int kKeys, int kHeads>
inline void ScoreRowBlock(const ScoreRowsCall& call, int key, int head) {
  Vec sums[kKeys * kHeads] = {};
  AddProducts<kType, kKeys, kHeads>(call.latent, key, head, sums);
  if (call.rope.part.width > 0) AddProducts<kType, kKeys, kHeads>(call.rope, key, head, sums);
  float totals[(kKeys * kHeads + kLanes - 1) / kLanes * kLanes];
  SumLanes(sums, totals);
#pragma GCC unroll 16
  for (int k = 0; k < kKeys; ++k) {
    float* scores = call.scores + (key + k) * call.padded_heads + head;
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) scores[h] = totals[k * kHeads + h];
  }
}

template <ElementType kType>
struct ScoreRowsOfHeads {
  ScoreRowsCall call;

  template <int kHeads>
  void Run(int head) const {
    constexpr int kKeys = kRowSums / kHeads;
    int key = 0;
    for (; key + kKeys <= call.keys; key += kKeys) {
      ScoreRowBlock<kType, kKeys, kHeads>(call, key, head);
    }
    for (; key < call.keys; ++key) ScoreRowBlock<kType, 1, kHeads>(call, key, head);
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
  NextRows next;
  float* out;

  template <int kHeads>
  void Run(int head) const {
    constexpr int kPairs = FloorPowerOfTwo(kRowSums / kHeads) / 2;
    for (int column = 0; column < kDim; column += kPairs * kPairLanes) {
      RunColumns<kHeads, kPairs>(head, column);
    }
  }

  // kHeads heads x kPairs pairs of vectors of the output; `column` is the first element of a row.
  template <int kHeads, int kPairs>
  void RunColumns(int head, int column) const {
    float* to = out + head * kDim + column;
    // Once is enough: the first block of heads asks for the next tile.
    const NextRows wanted = head == 0 ? next : NextRows{};
    VecPair sums[kHeads][kPairs];
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        const float* from = to + h * kDim + p * kPairLanes;
        sums[h][p] = first ? VecPair{}
                           : VecPair{Load(from) * rescale[head + h],
                                     Load(from + kLanes) * rescale[head + h]};
      }
    }
    for (int k = 0; k < keys; ++k) {
      Prefetch<kPairs * kPairLanes>(wanted, k, column);
      VecPair values[kPairs];
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        values[p] = WidenPair<kType>(rows[k] + column + p * kPairLanes);
      }
#pragma GCC unroll 8
      for (int h = 0; h < kHeads; ++h) {
        const Vec probability = Broadcast(scores[k * padded_heads + head + h]);
#pragma GCC unroll 16
        for (int p = 0; p < kPairs; ++p) {
          VecPair& sum = sums[h][p];
          sum = {Fma(probability, values[p].first, sum.first),
                 Fma(probability, values[p].second, sum.second)};
        }
      }
    }
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        Store(to + h * kDim + p * kPairLanes, sums[h][p].first);
        Store(to + h * kDim + p * kPairLanes + kLanes, sums[h][p].second);
      }
    }
  }
};

void ScoreRows(ElementType type, const ScorePart& latent, const ScorePart& rope, int keys,
               const HeadCount& heads, float* scores) {
  // The lanes of no head must hold finite numbers: they go through the softmax too.
  for (int k = 0; k < keys; ++k) {
    for (int h = heads.heads; h < heads.padded_heads; ++h) scores[k * heads.padded_heads + h] = 0;
  }
  const ScoreRowsCall call{latent, rope, keys, heads.padded_heads, scores};
  if (type == ElementType::kBfloat16) {
    return ForBlocks<kScoreHeads>(heads.heads, ScoreRowsOfHeads<ElementType::kBfloat16>{call});
  }
  ForBlocks<kScoreHeads>(heads.heads, ScoreRowsOfHeads<ElementType::kFloat16>{call});
}

void AccumulateRows(ElementType type, const float* scores, const uint16_t* const* rows, int keys,
                    int heads, int padded_heads, const float* rescale, bool first,
                    const NextRows& next, float* out) {
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
