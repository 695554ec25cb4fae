// SPDX-License-Identifier: Apache-2.0
// Scores for many heads: the query lies in panels whose lanes are heads, so that a score broadcasts
// an element of a key, and keys need no transposing. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/arithmetic_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

// Heads [first, first + kLanes) into column `column` of a panel that is `width` heads wide.
template <typename Arithmetic>
void TransposeHeads(const uint16_t* q, int heads, int first, int depth, float* panel, int width,
                    int column) {
  constexpr int kParts = Arithmetic::kVectors;
  for (int d = 0; d < depth; d += kPairLanes) {
    Vec parts[kParts][kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      const typename Arithmetic::Elements elements =
          first + i < heads ? Arithmetic::LoadElements(q + (first + i) * depth + d)
                            : typename Arithmetic::Elements{};
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part) parts[part][i] = Arithmetic::Part(elements, part);
    }
    float* rows = panel + StepsOf<Arithmetic>(d) * width + column;
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      Transpose(parts[part]);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) {
        Store(rows + (part * kLanes + i) * width, parts[part][i]);
      }
    }
  }
}

// Panels are (steps, heads of the panel) each; the last one is narrower when the heads do not fill
// it.
template <typename Arithmetic>
void PrepareQueryPanels(const uint16_t* q, const HeadCount& heads, const KeyPart& part,
                        float* query) {
  constexpr int kPanelHeads = PanelShape<Arithmetic>::kWidth;
  for (int first = 0; first < heads.padded_heads; first += kPanelHeads) {
    float* panel = query + first * StepsOf<Arithmetic>(part.width);
    const int rest = heads.padded_heads - first;
    const int width = rest < kPanelHeads ? rest : kPanelHeads;
    for (int column = 0; column < width; column += kLanes) {
      TransposeHeads<Arithmetic>(q, heads.heads, first + column, part.width, panel, width, column);
    }
  }
}

template <typename Arithmetic>
void WidenRows(const uint16_t* const* rows, int num_rows, const KeyPart& part, float* tile) {
  for (int k = 0; k < num_rows; ++k) {
    Arithmetic::StoreRow(rows[k], part.width, tile + k * part.stride);
  }
}

// Where a block finds an element of its r-th key: in a widened tile, or in rows as they are.
struct WidenedKeys {
  const float* first;
  int stride;

  Vec Element(int r, int step) const { return Broadcast(first[r * stride + step]); }
};
template <int kRows>
struct ListedKeys {
  const uint16_t* rows[kRows];

  Vec Element(int r, int step) const { return BroadcastBits(rows[r] + 2 * step); }
};

// What the blocks of one panel have in common: steps [begin, end) of query and keys.
struct ScoreDepth {
  const float* panel;
  const float* tile;
  const uint16_t* const* rows;
  int stride;  // of the tile
  int begin;
  int end;
  bool onto_scores;
  float* scores;
  int score_stride;
};

template <typename Arithmetic, int kRows>
inline auto KeysOf(const ScoreDepth& depth, int key) {
  if constexpr (Arithmetic::kElementsPerLane == 1) {
    return WidenedKeys{depth.tile + key * depth.stride, depth.stride};
  } else {
    ListedKeys<kRows> keys;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) keys.rows[r] = depth.rows[key + r];
    return keys;
  }
}

// kRows keys x (kVectors * kLanes) heads.
template <typename Arithmetic, int kRows, int kVectors>
inline void ScoreBlock(const ScoreDepth& depth, int key) {
  constexpr int width = kVectors * kLanes;
  const auto keys = KeysOf<Arithmetic, kRows>(depth, key);
  float* scores = depth.scores + key * depth.score_stride;
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = depth.onto_scores ? Load(scores + r * depth.score_stride + v * kLanes) : Vec{};
    }
  }
  for (int step = depth.begin; step < depth.end; ++step) {
    Vec heads[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) heads[v] = Load(depth.panel + step * width + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec key_element = keys.Element(r, step);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = Arithmetic::MultiplyAdd(key_element, heads[v], sums[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Store(scores + r * depth.score_stride + v * kLanes, sums[r][v]);
    }
  }
}

template <typename Arithmetic, int kVectors>
struct ScorePanel {
  const ScoreDepth& depth;

  template <int kRows>
  void Run(int key) const {
    ScoreBlock<Arithmetic, kRows, kVectors>(depth, key);
  }
};

// Runs the blocks of a panel that is `vectors` <= kVectors wide.
template <typename Arithmetic, int kVectors>
inline void RunScorePanel(const ScoreDepth& depth, int keys, int vectors) {
  if constexpr (kVectors > 0) {
    if (vectors == kVectors) {
      return ForBlocks<PanelShape<Arithmetic>::Rows(kVectors)>(
          keys, ScorePanel<Arithmetic, kVectors>{depth});
    }
    RunScorePanel<Arithmetic, kVectors - 1>(depth, keys, vectors);
  }
}

// Adds the products of one part; `tile` has its keys if they had to be widened.
template <typename Arithmetic>
void AddScores(const ScoreCall& call, const ScorePart& part, const float* tile, bool onto_scores) {
  using Shape = PanelShape<Arithmetic>;
  const int steps = StepsOf<Arithmetic>(part.part.width);
  const int padded_heads = call.heads.padded_heads;
  for (int begin = 0; begin < steps; begin += Shape::kDepth) {
    for (int first = 0; first < padded_heads; first += Shape::kWidth) {
      const int rest = padded_heads - first;
      const ScoreDepth depth{part.query + first * steps,
                             tile,
                             part.keys,
                             part.part.stride,
                             begin,
                             begin + Shape::kDepth < steps ? begin + Shape::kDepth : steps,
                             begin > 0 || onto_scores,
                             call.scores + first,
                             padded_heads};
      RunScorePanel<Arithmetic, Shape::kVectors>(
          depth, call.keys, rest < Shape::kWidth ? rest / kLanes : Shape::kVectors);
    }
  }
}

template <typename Arithmetic>
void ScorePanels(const ScoreCall& call) {
  constexpr bool kWidened = Arithmetic::kElementsPerLane == 1;
  const auto add_part = [&call](const ScorePart& part, float* tile, bool onto_scores) {
    if constexpr (kWidened) WidenRows<Arithmetic>(part.keys, call.keys, part.part, tile);
    AddScores<Arithmetic>(call, part, tile, onto_scores);
  };
  add_part(call.latent, call.tile.latent, false);
  if (call.rope.part.width > 0) add_part(call.rope, call.tile.rope, true);
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
