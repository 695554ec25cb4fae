// SPDX-License-Identifier: Apache-2.0
// The tile kernels, written once in terms of vector.h. Each tile_kernels_<isa>.cpp includes this
// with its own flags and SFMLA_ISA_NAMESPACE.
#pragma once

#include "op_kernel/arch/cpu/row_kernels_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

// A register block is kBlockRows x kBlockVectors accumulators; with the operands of one step they
// just fit the register file.
#if defined(__AVX512F__)
constexpr int kBlockRows = 8;
#elif defined(__AVX2__)
constexpr int kBlockRows = 6;
#elif defined(SFMLA_USE_NEON)
constexpr int kBlockRows = 8;
#else
constexpr int kBlockRows = 4;
#endif
// Up to this many heads the products of row_kernels_impl.h are the faster ones (measured).
constexpr int kFewHeads = kLanes >= 16 ? 24 : kLanes >= 8 ? 12 : 4;
constexpr int kBlockVectors = 2;
constexpr int kPanelHeads = kBlockVectors * kLanes;
// A query panel of this depth leaves room for the keys in a 32 KiB first-level cache.
constexpr int kDepthBlock = 16384 / (4 * kPanelHeads);

static_assert(kDim % kDepthBlock == 0 && kDim % kPanelHeads == 0);
static_assert(kRopeDim % kPairLanes == 0);

template <ElementType kType>
void WidenRowsOf(const uint16_t* const* rows, int num_rows, const KeyPart& part, float* tile) {
  for (int k = 0; k < num_rows; ++k) {
    float* to = tile + k * part.stride;
    for (int d = 0; d < part.width; d += kPairLanes) {
      const VecPair pair = WidenPair<kType>(rows[k] + d);
      Store(to + d, pair.first);
      Store(to + d + kLanes, pair.second);
    }
  }
}

void WidenRows(ElementType type, const uint16_t* const* rows, int num_rows, const KeyPart& part,
               float* tile) {
  if (type == ElementType::kBfloat16)
    return WidenRowsOf<ElementType::kBfloat16>(rows, num_rows, part, tile);
  WidenRowsOf<ElementType::kFloat16>(rows, num_rows, part, tile);
}

// Heads [first, first + kLanes) into column `column` of a panel that is `width` heads wide.
template <ElementType kType>
void TransposeHeads(const uint16_t* q, int heads, int first, int depth, float* panel, int width,
                    int column) {
  for (int d = 0; d < depth; d += kPairLanes) {
    Vec first_half[kLanes];
    Vec second_half[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      const VecPair pair =
          first + i < heads ? WidenPair<kType>(q + (first + i) * depth + d) : VecPair{};
      first_half[i] = pair.first;
      second_half[i] = pair.second;
    }
    Transpose(first_half);
    Transpose(second_half);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      Store(panel + (d + i) * width + column, first_half[i]);
      Store(panel + (d + kLanes + i) * width + column, second_half[i]);
    }
  }
}

// The query is kept in panels of kPanelHeads heads, (depth, width) each; the last one is narrower
// when the heads do not fill it.
template <ElementType kType>
void TransposeQueryOf(const uint16_t* q, int heads, int depth, float* query) {
  const int padded = PadHeads(heads, kLanes);
  for (int first = 0; first < padded; first += kPanelHeads) {
    float* panel = query + first * depth;
    const int width = padded - first < kPanelHeads ? padded - first : kPanelHeads;
    for (int column = 0; column < width; column += kLanes) {
      TransposeHeads<kType>(q, heads, first + column, depth, panel, width, column);
    }
  }
}

void TransposeQuery(ElementType type, const uint16_t* q, int heads, const KeyPart& part,
                    float* query) {
  if (type == ElementType::kBfloat16)
    return TransposeQueryOf<ElementType::kBfloat16>(q, heads, part.width, query);
  TransposeQueryOf<ElementType::kFloat16>(q, heads, part.width, query);
}

// What the blocks of one panel have in common: depth [begin, end) of query and keys.
struct ScoreDepth {
  const float* panel;
  const float* tile;
  int stride;  // of the tile
  int begin;
  int end;
  bool onto_scores;
  float* scores;
  int score_stride;
};

// kRows keys x (kVectors * kLanes) heads.
template <int kRows, int kVectors>
inline void ScoreBlock(const ScoreDepth& depth, int key) {
  constexpr int width = kVectors * kLanes;
  const float* tile = depth.tile + key * depth.stride;
  float* scores = depth.scores + key * depth.score_stride;
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = depth.onto_scores ? Load(scores + r * depth.score_stride + v * kLanes) : Vec{};
    }
  }
  for (int d = depth.begin; d < depth.end; ++d) {
    Vec heads[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) heads[v] = Load(depth.panel + d * width + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec key_element = Broadcast(tile[r * depth.stride + d]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[r][v] = Fma(key_element, heads[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      Store(scores + r * depth.score_stride + v * kLanes, sums[r][v]);
    }
  }
}

template <int kVectors>
struct ScorePanel {
  ScoreDepth depth;

  template <int kRows>
  void Run(int key) const {
    ScoreBlock<kRows, kVectors>(depth, key);
  }
};

void Score(const float* query, const float* tile, int keys, const KeyPart& part, int padded_heads,
           Onto onto, float* scores) {
  for (int begin = 0; begin < part.width; begin += kDepthBlock) {
    const int end = begin + kDepthBlock < part.width ? begin + kDepthBlock : part.width;
    const bool onto_scores = begin > 0 || onto == Onto::kScores;
    for (int first = 0; first < padded_heads; first += kPanelHeads) {
      const ScoreDepth depth{query + first * part.width,
                             tile,
                             part.stride,
                             begin,
                             end,
                             onto_scores,
                             scores + first,
                             padded_heads};
      if (padded_heads - first >= kPanelHeads) {
        ForBlocks<kBlockRows>(keys, ScorePanel<kBlockVectors>{depth});
      } else {
        ForBlocks<kBlockVectors * kBlockRows>(keys, ScorePanel<1>{depth});
      }
    }
  }
}

void Softmax(float* scores, int keys, int padded_heads, float scale, SoftmaxState state) {
  for (int head = 0; head < padded_heads; head += kLanes) {
    float* column = scores + head;
    const Vec old_max = Load(state.max + head);
    Vec max = old_max;
    for (int k = 0; k < keys; ++k) {
      const Vec score = Load(column + k * padded_heads) * scale;
      Store(column + k * padded_heads, score);
      max = Max(score, max);
    }
    const Vec rescale = ExpNonPositive(old_max - max);
    Vec sum = Vec{};
    for (int k = 0; k < keys; ++k) {
      const Vec probability = ExpNonPositive(Load(column + k * padded_heads) - max);
      Store(column + k * padded_heads, probability);
      sum += probability;
    }
    Store(state.max + head, max);
    Store(state.sum + head, Fma(Load(state.sum + head), rescale, sum));
    Store(state.rescale + head, rescale);
  }
}

// kRows heads x kPanelHeads columns of the output.
struct AccumulateBlock {
  const float* scores;
  const float* tile;  // at the first column
  int keys;
  int score_stride;
  const float* rescale;
  bool first;
  NextRows next;
  int column;
  float* out;  // at the first column

  template <int kRows>
  void Run(int head) const {
    // Once is enough: the first block of heads asks for the next tile.
    const NextRows wanted = head == 0 ? next : NextRows{};
    Vec sums[kRows][kBlockVectors];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kBlockVectors; ++v) {
        sums[r][v] = first ? Vec{} : Load(out + (head + r) * kDim + v * kLanes) * rescale[head + r];
      }
    }
    for (int k = 0; k < keys; ++k) {
      Prefetch<kPanelHeads>(wanted, k, column);
      Vec values[kBlockVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kBlockVectors; ++v) {
        values[v] = Load(tile + k * kLatentPart.stride + v * kLanes);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec probability = Broadcast(scores[k * score_stride + head + r]);
#pragma GCC unroll 2
        for (int v = 0; v < kBlockVectors; ++v) {
          sums[r][v] = Fma(probability, values[v], sums[r][v]);
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kBlockVectors; ++v) {
        Store(out + (head + r) * kDim + v * kLanes, sums[r][v]);
      }
    }
  }
};

void Accumulate(const float* scores, const float* tile, int keys, int heads, int padded_heads,
                const float* rescale, bool first, const NextRows& next, float* out) {
  for (int d = 0; d < kDim; d += kPanelHeads) {
    ForBlocks<kBlockRows>(heads, AccumulateBlock{scores, tile + d, keys, padded_heads, rescale,
                                                 first, next, d, out + d});
  }
}

void Merge(float* out, const float* out_factor, const float* part, const float* part_factor,
           int heads) {
  for (int head = 0; head < heads; ++head) {
    const Vec keep = Broadcast(out_factor[head]);
    const Vec add = Broadcast(part_factor[head]);
    for (int d = head * kDim; d < (head + 1) * kDim; d += kLanes) {
      Store(out + d, Fma(Load(part + d), add, Load(out + d) * keep));
    }
  }
}

void StoreResult(ElementType type, const float* out, const float* factor, int heads,
                 uint16_t* result) {
  for (int head = 0; head < heads; ++head) {
    for (int d = head * kDim; d < (head + 1) * kDim; d += kPairLanes) {
      const VecPair pair{Load(out + d) * factor[head], Load(out + d + kLanes) * factor[head]};
      if (type == ElementType::kBfloat16) {
        NarrowPairBfloat16(pair, result + d);
      } else {
        NarrowPairFloat16(pair, result + d);
      }
    }
  }
}

int64_t Peak(int64_t steps) {
  constexpr int kChains = 12;
  // The compiler must not see that all chains start alike, or it computes one of them.
  volatile float start = 1;
  Vec sums[kChains];
  for (Vec& sum : sums) sum = Broadcast(start);
  const Vec factor = Broadcast(0.999f);
  const Vec addend = Broadcast(0.001f);
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int chain = 0; chain < kChains; ++chain) {
      sums[chain] = Fma(sums[chain], factor, addend);
    }
  }
  // The sums must count as used, or there is nothing to compute.
  volatile float sink = 0;
  for (const Vec& sum : sums) sink = sink + sum[0];
  return 2 * kLanes * kChains * steps;
}

constexpr TileKernels MakeTable(const char* name) {
  return {name,       kLanes,    kFewHeads,      WidenRows, TransposeQuery, Score, Softmax,
          Accumulate, ScoreRows, AccumulateRows, Merge,     StoreResult,    Peak};
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
