// SPDX-License-Identifier: Apache-2.0
// The two products of 16-bit numbers for many heads in AMX tiles. Queries and values have the forms
// of PairForms, which are those AMX wants, and as which `Pairs` stands below; keys are copied and
// weights transposed. Part of tile_kernels_amx*.cpp.
#pragma once

#include "op_kernel/arch/cpu/amx_tiles.h"
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

static_assert(kLanes == kAmxColumns);

// The AMX tiles: 2 x 2 of sums, and the operands of one step.
constexpr int kMostSums = 2;  // in each direction
constexpr int SumTile(int row, int column) { return kMostSums * row + column; }
constexpr int kLeftTile = 4;
constexpr int kRightTile = 6;

constexpr int AmxTilesOf(int rows) { return (rows + kAmxRows - 1) / kAmxRows; }

// For sums of so many rows, up to 32, which is all that their loads and stores touch.
inline void ConfigureSums(int rows) {
  const int first = rows < kAmxRows ? rows : kAmxRows;
  const int second = rows - first;
  AmxShapes shapes;
  shapes.SetRows(kLeftTile, first);
  shapes.SetRows(kLeftTile + 1, second);
  for (int column = 0; column < kMostSums; ++column) {
    shapes.SetRows(SumTile(0, column), first);
    shapes.SetRows(SumTile(1, column), second);
    shapes.SetRows(kRightTile + column, kAmxRows);
  }
  ConfigureAmx(shapes);
}

// Calls use.operator()<row, column>() for kRows x kColumns tiles of sums.
template <int kRows, int kColumns, typename Use>
[[gnu::always_inline]] inline void ForSums(const Use& use) {
  use.template operator()<0, 0>();
  if constexpr (kColumns > 1) use.template operator()<0, 1>();
  if constexpr (kRows > 1) use.template operator()<1, 0>();
  if constexpr (kRows > 1 && kColumns > 1) use.template operator()<1, 1>();
}

template <int kRows, int kColumns>
inline void ZeroSums() {
  ForSums<kRows, kColumns>([]<int kRow, int kColumn>() { ZeroAmxTile<SumTile(kRow, kColumn)>(); });
}

// Strides are numbers of float32, or of pairs.
constexpr int64_t AmxStride(int stride) { return int64_t{4} * stride; }

template <int kRows, int kColumns>
inline void LoadSums(const float* from, int stride) {
  ForSums<kRows, kColumns>([=]<int kRow, int kColumn>() {
    LoadAmxTile<SumTile(kRow, kColumn)>(from + kRow * kAmxRows * stride + kColumn * kAmxColumns,
                                        AmxStride(stride));
  });
}

template <int kRows, int kColumns>
inline void StoreSums(float* to, int stride) {
  ForSums<kRows, kColumns>([=]<int kRow, int kColumn>() {
    StoreAmxTile<SumTile(kRow, kColumn)>(to + kRow * kAmxRows * stride + kColumn * kAmxColumns,
                                         AmxStride(stride));
  });
}

// Pairs: how far apart the rows of an AMX tile are, and two AMX tiles.
struct AmxOperand {
  const float* first;
  int stride;
  int next;
};

// Adds the products of 16 pairs: elements of scores, keys of outputs.
template <ElementType kType, int kRows, int kColumns>
inline void AddTiles(const AmxOperand& left, const AmxOperand& right) {
  LoadAmxTile<kLeftTile>(left.first, AmxStride(left.stride));
  LoadAmxTile<kRightTile>(right.first, AmxStride(right.stride));
  if constexpr (kRows > 1) {
    LoadAmxTile<kLeftTile + 1>(left.first + left.next, AmxStride(left.stride));
  }
  if constexpr (kColumns > 1) {
    LoadAmxTile<kRightTile + 1>(right.first + right.next, AmxStride(right.stride));
  }
  ForSums<kRows, kColumns>([]<int kRow, int kColumn>() {
    AddAmxProducts<kType, SumTile(kRow, kColumn), kLeftTile + kRow, kRightTile + kColumn>();
  });
}

// Pairs from one copied key to the next; a cache line more than they have, as in KeyPart.
constexpr int CopiedStride(const KeyPart& part) { return part.width / 2 + kAmxColumns; }
constexpr bool CopiesFit(const KeyPart& part) {
  return kMostSums * kAmxRows * CopiedStride(part) <= kWidenedKeys * part.stride;
}
static_assert(CopiesFit(kLatentPart) && CopiesFit(kRopePart));

// Scores of up to 32 keys from `key` on, which have been copied into the tile.
template <typename Pairs, int kRows>
struct AmxScoreHeads {
  const ScoreCall& call;
  int key;
  int panel;  // its first head
  int width;  // of the panel

  template <int kColumns>
  void Run(int column_tile) const {
    const int column = column_tile * kAmxColumns;
    ZeroSums<kRows, kColumns>();
    AddPart<kColumns>(call.latent, call.tile.latent, column);
    if (call.rope.part.width > 0) AddPart<kColumns>(call.rope, call.tile.rope, column);
    const int stride = call.heads.padded_heads;
    StoreSums<kRows, kColumns>(call.scores + key * stride + panel + column, stride);
  }

  template <int kColumns>
  void AddPart(const ScorePart& part, const float* keys, int column) const {
    const int pairs = part.part.width / 2;
    const int stride = CopiedStride(part.part);
    const float* query = part.query + panel * pairs + column;
    for (int pair = 0; pair < pairs; pair += kAmxColumns) {
      AddTiles<Pairs::kType, kRows, kColumns>({keys + pair, stride, kAmxRows * stride},
                                              {query + pair * width, width, kAmxColumns});
    }
  }
};

template <typename Pairs>
struct AmxScoreKeys {
  const ScoreCall& call;

  template <int kRows>
  void Run(int key_tile) const {
    constexpr int kPanelHeads = PanelShape<Pairs>::kWidth;
    const int key = key_tile * kAmxRows;
    const int rest = call.keys - key;
    const int count = rest < kRows * kAmxRows ? rest : kRows * kAmxRows;
    CopyKeys(call.latent, key, count, call.tile.latent);
    if (call.rope.part.width > 0) CopyKeys(call.rope, key, count, call.tile.rope);
    ConfigureSums(count);
    const int padded_heads = call.heads.padded_heads;
    for (int panel = 0; panel < padded_heads; panel += kPanelHeads) {
      const int width = padded_heads - panel < kPanelHeads ? padded_heads - panel : kPanelHeads;
      ForBlocks<kMostSums>(width / kAmxColumns,
                           AmxScoreHeads<Pairs, kRows>{call, key, panel, width});
    }
  }

  // Rows of an AMX tile are equally far apart, those of a cache are not.
  static void CopyKeys(const ScorePart& part, int key, int count, float* to) {
    for (int k = 0; k < count; ++k) {
      Pairs::StoreRow(part.keys[key + k], part.part.width, to + k * CopiedStride(part.part));
    }
  }
};

template <typename Pairs>
void ScoreAmx(const ScoreCall& call) {
  ForBlocks<kMostSums>(AmxTilesOf(call.keys), AmxScoreKeys<Pairs>{call});
  ReleaseAmx();
}

// Squares of pairs (steps, padded_heads) become (heads, steps) in their own place; steps up to a
// multiple of 16 become 0.
static_assert(kMaxTileKeys % (2 * kLanes) == 0);  // so these are within the room for scores
inline void TransposeWeights(float* pairs, int steps, int padded_heads) {
  for (int step = 0; step < steps; step += kLanes) {
    for (int head = 0; head < padded_heads; head += kLanes) {
      float* square = pairs + step * padded_heads + head;
      Vec rows[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) {
        rows[i] = step + i < steps ? Load(square + i * padded_heads) : Vec{};
      }
      Transpose(rows);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) Store(square + i * padded_heads, rows[i]);
    }
  }
}

// kOutColumns columns of the output, whose values have been prepared in the tile.
template <typename Pairs>
struct AmxAccumulateHeads {
  static constexpr int kColumns = kMostSums * kAmxColumns;

  const AccumulateCall& call;
  int steps;
  int column;

  template <int kRows>
  void Run(int head_tile) const {
    const int head = head_tile * kAmxRows;
    const int rest = call.heads.heads - head;
    if (rest >= kRows * kAmxRows) return RunHeads<kRows>(head, kRows * kAmxRows);
    ConfigureSums(rest);
    RunHeads<kRows>(head, rest);
    ConfigureSums(kMostSums * kAmxRows);
  }

  template <int kRows>
  void RunHeads(int head, int count) const {
    for (int d = 0; d < kOutColumns; d += kColumns) {
      float* out = call.out + OutOffset(call.heads.heads, head, column + d);
      if (call.first) {
        ZeroSums<kRows, kMostSums>();
      } else {
        Rescale(out, call.rescale + head, count);
        LoadSums<kRows, kMostSums>(out, kOutColumns);
      }
      AddValues<kRows>(head, d);
      StoreSums<kRows, kMostSums>(out, kOutColumns);
    }
  }

  static void Rescale(float* out, const float* rescale, int heads) {
    for (int h = 0; h < heads; ++h) {
      for (int d = h * kOutColumns; d < h * kOutColumns + kColumns; d += kLanes) {
        Store(out + d, Load(out + d) * rescale[h]);
      }
    }
  }

  template <int kRows>
  void AddValues(int head, int d) const {
    const NextRows wanted = call.next.After(head / (kMostSums * kAmxRows) * call.keys);
    const int padded_heads = call.heads.padded_heads;
    for (int step = 0; step < steps; step += kAmxRows) {
      for (int i = 0; i < kAmxRows; ++i) {
        Prefetch<Pairs, kColumns>(wanted, step + i, column + d);
      }
      AddTiles<Pairs::kType, kRows, kMostSums>(
          {call.scores + step * padded_heads + head, padded_heads, kAmxColumns},
          {call.tile.latent + step * kOutColumns + d, kOutColumns, kAmxColumns});
    }
  }
};

static_assert(kMaxTileKeys / 2 * kOutColumns <= kWidenedKeys * kLatentPart.stride);
template <typename Pairs>
void AccumulateAmx(const AccumulateCall& call) {
  const int steps = StepsOf<Pairs>(call.keys);
  const size_t missing_steps = static_cast<size_t>(AmxTilesOf(steps) * kAmxRows - steps);
  Pairs::PrepareWeights(call.scores, call.keys, call.heads.padded_heads);
  TransposeWeights(call.scores, steps, call.heads.padded_heads);
  ConfigureSums(kMostSums * kAmxRows);
  for (int column = 0; column < kDim; column += kOutColumns) {
    PrepareValues<Pairs, kOutColumns>(call.values, call.keys, column, call.tile.latent);
    memset(call.tile.latent + steps * kOutColumns, 0, missing_steps * kOutColumns * sizeof(float));
    ForBlocks<kMostSums>(AmxTilesOf(call.heads.heads),
                         AmxAccumulateHeads<Pairs>{call, steps, column});
  }
  ReleaseAmx();
}

// Few heads have the products of `Arithmetic`.
template <typename Number, typename Arithmetic>
constexpr TypeProducts MakeAmxProducts() {
  using Pairs = PairForms<Number>;
  TypeProducts products = MakeProducts<Arithmetic>();
  products.many = {PanelShape<Pairs>::kTileKeys,
                   PrepareQueryPanels<Pairs>,
                   ScoreAmx<Pairs>,
                   AccumulateAmx<Pairs>,
                   true,
                   Pairs::kWeightScale};
#if defined(SFMLA_AMX_IN_SOFTWARE)
  products.few_heads = 0;  // tests with few heads shall reach them too
#endif
  return products;
}

constexpr TypeProducts MakeAmxBfloat16() {
  return MakeAmxProducts<Bfloat16Number, Bfloat16Arithmetic>();
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
