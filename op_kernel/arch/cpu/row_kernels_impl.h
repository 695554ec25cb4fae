// SPDX-License-Identifier: Apache-2.0
// The two products for few heads, straight from 16-bit keys: lanes run along the head dimension,
// and keys that need widening are widened in registers. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/arithmetic_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

// Accumulators of a register block: enough to hide the latency of the multiply-add, few enough to
// leave registers for the operands.
#if defined(__AVX512F__) || defined(SFMLA_USE_SVE)
constexpr int kRowSums = 16;
#else
constexpr int kRowSums = 8;
#endif
// Heads of a block; with fewer heads it takes more keys, or more columns of the output, instead.
constexpr int kScoreHeads = 4;
constexpr int kAccumulateHeads = kRowSums / 2;

// Keys of a score block, vectors of an output block. Not as many as a single head leaves sums for:
// their addresses, or the vectors themselves, take registers as well.
constexpr int BlockWidth(int heads) {
  constexpr int kMost = kLanes >= 16 ? 16 : 8;
  return kRowSums / heads < kMost ? kRowSums / heads : kMost;
}

// Rows that are gathered lie in as many pages, and each pass over some columns touches them all:
// with 8 or 16 heads, tiles of 128 keys took 10 % longer.
constexpr int kRowTileKeys = 64;

constexpr int FloorPowerOfTwo(int value) {
  int power = 1;
  while (2 * power <= value) power *= 2;
  return power;
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

// Heads stay rows.
template <typename Arithmetic>
void PrepareQueryRows(const uint16_t* q, const HeadCount& heads, const KeyPart& part,
                      float* query) {
  for (int head = 0; head < heads.heads; ++head) {
    Arithmetic::StoreRow(q + head * part.width, part.width, query + head * part.stride);
  }
}

// sums[k * kHeads + h] += query head h x key k, over the width of the part.
template <typename Arithmetic, int kKeys, int kHeads>
[[gnu::always_inline]] inline void AddProducts(const ScorePart& part, int key, int head,
                                               Vec (&sums)[kKeys * kHeads]) {
  const int stride = part.part.stride;
  const float* query = part.query + head * stride;
  const uint16_t* const* rows = part.keys + key;
  // No part is empty. A loop that might be has GCC copy SVE's sums each time around.
  int d = 0;
  do {
    typename Arithmetic::Elements keys[kKeys];
#pragma GCC unroll 16
    for (int k = 0; k < kKeys; ++k) keys[k] = Arithmetic::LoadElements(rows[k] + d);
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
      const typename Arithmetic::Elements elements = Arithmetic::LoadStored(query + h * stride, d);
#pragma GCC unroll 16
      for (int k = 0; k < kKeys; ++k) {
        Vec& sum = sums[k * kHeads + h];
        sum = Arithmetic::AddElements(elements, keys[k], sum);
      }
    }
    d += kPairLanes;
  } while (d < part.part.width);
}

// Scores of kKeys keys from `key` on and kHeads heads from `head` on; kKeys * kHeads <= kRowSums.
template <typename Arithmetic, int kKeys, int kHeads>
inline void ScoreRowBlock(const ScoreCall& call, int key, int head) {
  Vec sums[kKeys * kHeads] = {};
  AddProducts<Arithmetic, kKeys, kHeads>(call.latent, key, head, sums);
  if (call.rope.part.width > 0) {
    AddProducts<Arithmetic, kKeys, kHeads>(call.rope, key, head, sums);
  }
  float totals[(kKeys * kHeads + kLanes - 1) / kLanes * kLanes];
  SumLanes(sums, totals);
#pragma GCC unroll 16
  for (int k = 0; k < kKeys; ++k) {
    float* scores = call.scores + (key + k) * call.heads.padded_heads + head;
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) scores[h] = totals[k * kHeads + h];
  }
}

template <typename Arithmetic>
struct ScoreRowsOfHeads {
  const ScoreCall& call;

  template <int kHeads>
  void Run(int head) const {
    constexpr int kKeys = BlockWidth(kHeads);
    int key = 0;
    for (; key + kKeys <= call.keys; key += kKeys) {
      ScoreRowBlock<Arithmetic, kKeys, kHeads>(call, key, head);
    }
    for (; key < call.keys; ++key) ScoreRowBlock<Arithmetic, 1, kHeads>(call, key, head);
  }
};

template <typename Arithmetic>
struct AccumulateRowsOfHeads {
  const AccumulateCall& call;

  template <int kHeads>
  void Run(int head) const {
    constexpr int kPairs = FloorPowerOfTwo(BlockWidth(kHeads)) / 2;
    for (int column = 0; column < kDim; column += kPairs * kPairLanes) {
      RunColumns<kHeads, kPairs>(head, column);
    }
  }

  // kHeads heads x kPairs pairs of vectors of the output; `column` is the first element of a row.
  template <int kHeads, int kPairs>
  void RunColumns(int head, int column) const {
    const uint16_t* const* rows = call.values;
    const float* weights = call.scores + head;
    const int weight_stride = call.heads.padded_heads;
    float* first = call.out + OutOffset(call.heads.heads, head, column);
    const int64_t block_stride = OutOffset(call.heads.heads, 0, kOutColumns);
    // The r-th vector of head h. What is narrower than a block does not reach into the next one.
    const auto at = [&](int h, int r) {
      const int d = r * kLanes;
      return first + d / kOutColumns * block_stride + h * kOutColumns + d % kOutColumns;
    };
    const NextRows wanted = call.next.After(BlocksBefore<kAccumulateHeads>(head) * call.keys);
    VecPair sums[kHeads][kPairs];
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        const float rescale = call.rescale[head + h];
        sums[h][p] = call.first
                         ? VecPair{}
                         : VecPair{Load(at(h, 2 * p)) * rescale, Load(at(h, 2 * p + 1)) * rescale};
      }
    }
    const int keys = call.keys;
    const int steps = StepsOf<Arithmetic>(keys);
    for (int step = 0; step < steps; ++step) {
      Prefetch<Arithmetic, kPairs * kPairLanes>(wanted, step, column);
      VecPair values[kPairs];
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        values[p] = Arithmetic::LoadValues(rows, step, keys, column + p * kPairLanes);
      }
#pragma GCC unroll 8
      for (int h = 0; h < kHeads; ++h) {
        const Vec weight = Arithmetic::BroadcastWeight(weights + step * weight_stride + h);
#pragma GCC unroll 16
        for (int p = 0; p < kPairs; ++p) {
          VecPair& sum = sums[h][p];
          sum = {Arithmetic::MultiplyAdd(weight, values[p].first, sum.first),
                 Arithmetic::MultiplyAdd(weight, values[p].second, sum.second)};
        }
      }
    }
#pragma GCC unroll 8
    for (int h = 0; h < kHeads; ++h) {
#pragma GCC unroll 16
      for (int p = 0; p < kPairs; ++p) {
        Store(at(h, 2 * p), sums[h][p].first);
        Store(at(h, 2 * p + 1), sums[h][p].second);
      }
    }
  }
};

template <typename Arithmetic>
void ScoreRows(const ScoreCall& call) {
  const HeadCount& heads = call.heads;
  // The lanes of no head go through the softmax too, and must have been written.
  for (int k = 0; k < call.keys; ++k) {
    for (int h = heads.heads; h < heads.padded_heads; ++h) {
      call.scores[k * heads.padded_heads + h] = 0;
    }
  }
  ForBlocks<kScoreHeads>(heads.heads, ScoreRowsOfHeads<Arithmetic>{call});
}

template <typename Arithmetic>
void AccumulateRows(const AccumulateCall& call) {
  Arithmetic::PrepareWeights(call.scores, call.keys, call.heads.padded_heads);
  ForBlocks<kAccumulateHeads>(call.heads.heads, AccumulateRowsOfHeads<Arithmetic>{call});
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
