// SPDX-License-Identifier: Apache-2.0
// The two ways to multiply that the products are written in terms of. Both sum in float32; a lane
// of an operand holds kElementsPerLane numbers, which are consecutive elements in a score and
// consecutive keys in an output. Weights are multiplied by kWeightScale. Part of
// tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

constexpr int kDim = static_cast<int>(kHeadDim);

template <ElementType kType>
inline VecPair WidenPair(const uint16_t* from) {
  return kType == ElementType::kBfloat16 ? WidenPairBfloat16(from) : WidenPairFloat16(from);
}

// Everything widened to float32, one number a lane.
template <ElementType kType>
struct WidenedArithmetic {
  static constexpr int kElementsPerLane = 1;
  static constexpr float kWeightScale = 1;

  static Vec MultiplyAdd(Vec a, Vec b, Vec sum) { return Fma(a, b, sum); }

  // Brings probabilities (keys, padded_heads) into the form that BroadcastWeight takes.
  static void PrepareWeights(float* /*scores*/, int /*keys*/, int /*padded_heads*/) {}
  static Vec BroadcastWeight(const float* weight) { return Broadcast(*weight); }

  // kPairLanes elements of a row.
  using Elements = VecPair;
  static constexpr int kVectors = 2;
  static Elements LoadElements(const uint16_t* from) { return WidenPair<kType>(from); }
  static Vec Part(const Elements& elements, int i) {
    return i == 0 ? elements.first : elements.second;
  }

  // The same of a row that StoreRow made.
  static Elements LoadStored(const float* row, int element) {
    return {InRegister(Load(row + element)), InRegister(Load(row + element + kLanes))};
  }
  static void StoreRow(const uint16_t* from, int width, float* row) {
    for (int d = 0; d < width; d += kPairLanes) {
      const VecPair pair = WidenPair<kType>(from + d);
      Store(row + d, pair.first);
      Store(row + d + kLanes, pair.second);
    }
  }
  static Vec AddElements(const Elements& a, const Elements& b, Vec sum) {
    return Fma(a.second, b.second, Fma(a.first, b.first, sum));
  }

  // kPairLanes elements of the values of one step.
  static VecPair LoadValues(const uint16_t* const* rows, int step, int /*keys*/, int column) {
    return WidenPair<kType>(rows[step] + column);
  }
};

// How pairs of bfloat16 are made, and what weights are multiplied by.
struct Bfloat16Number {
  static constexpr ElementType kType = ElementType::kBfloat16;
  static constexpr float kWeightScale = 1;

  static Vec Narrow(Vec low, Vec high) { return NarrowToPairs(low, high); }
  static VecPair PairElements(Vec low, Vec high) {
    return SFMLA_ISA_NAMESPACE::PairElements(low, high);
  }
};

// The forms of operands that are multiplied as they are, two numbers a lane.
template <typename Number>
struct PairForms {
  static constexpr ElementType kType = Number::kType;
  static constexpr int kElementsPerLane = 2;
  static constexpr float kWeightScale = Number::kWeightScale;

  // Scaled, then rounded half to even, in pairs (steps, padded_heads) in their own place.
  static void PrepareWeights(float* scores, int keys, int padded_heads) {
    for (int key = 0; key < keys; key += 2) {
      const float* low = scores + key * padded_heads;
      float* pairs = scores + key / 2 * padded_heads;
      for (int head = 0; head < padded_heads; head += kLanes) {
        const Vec high = key + 1 < keys ? Load(low + padded_heads + head) : Vec{};
        Store(pairs + head, Number::Narrow(Load(low + head) * kWeightScale, high * kWeightScale));
      }
    }
  }

  using Elements = Vec;
  static constexpr int kVectors = 1;
  static Elements LoadElements(const uint16_t* from) {
    Vec out;
    memcpy(&out, from, sizeof(out));
    return out;
  }
  static Vec Part(const Elements& elements, int /*i*/) { return elements; }

  static Elements LoadStored(const float* row, int element) {
    return InRegister(Load(row + element / 2));
  }
  static void StoreRow(const uint16_t* from, int width, float* row) {
    memcpy(row, from, static_cast<size_t>(width) * sizeof(uint16_t));
  }

  // A key without a partner has zeros for one.
  static VecPair LoadValues(const uint16_t* const* rows, int step, int keys, int column) {
    const int key = 2 * step;
    return Number::PairElements(LoadElements(rows[key] + column),
                                key + 1 < keys ? LoadElements(rows[key + 1] + column) : Vec{});
  }
};

#if defined(SFMLA_HAS_PAIR_PRODUCTS)
struct PairArithmetic : PairForms<Bfloat16Number> {
  static Vec MultiplyAdd(Vec a, Vec b, Vec sum) { return AddPairProducts(a, b, sum); }
  static Vec BroadcastWeight(const float* pair) { return BroadcastBits(pair); }
  static Vec AddElements(const Elements& a, const Elements& b, Vec sum) {
    return AddPairProducts(a, b, sum);
  }
};
#endif

// Steps that `count` elements or keys take.
template <typename Arithmetic>
constexpr int StepsOf(int count) {
  return (count + Arithmetic::kElementsPerLane - 1) / Arithmetic::kElementsPerLane;
}

// A register block is `rows` x `vectors` accumulators: enough to hide the latency of the
// multiply-add, and with the operands of one step they fit the register file. Rows are keys of a
// score, heads of an output.
template <typename Arithmetic>
struct PanelShape {
#if defined(__AVX512F__)
  static constexpr int kRows = Arithmetic::kElementsPerLane == 2 ? 6 : 8;
  static constexpr int kVectors = Arithmetic::kElementsPerLane == 2 ? 4 : 2;
#elif defined(SFMLA_USE_SVE)
  static constexpr int kRows = 6;
  static constexpr int kVectors = 4;
#elif defined(__AVX2__)
  static constexpr int kRows = 6;
  static constexpr int kVectors = 2;
#elif defined(SFMLA_USE_NEON)
  static constexpr int kRows = 8;
  static constexpr int kVectors = 2;
#else
  static constexpr int kRows = 4;
  static constexpr int kVectors = 2;
#endif
  static constexpr int kWidth = kVectors * kLanes;
  // Steps of a query panel that leave room for the keys in a 32 KiB first-level cache.
  static constexpr int kDepth = 16384 / (4 * kWidth);

  // The more keys, the less often a tile reads and writes the running output. Keys that have to be
  // widened take twice the room, and a tile of 64 of them takes 132 KiB of the second-level cache.
  static constexpr int kTileKeys = Arithmetic::kElementsPerLane == 2 ? kMaxTileKeys : kWidenedKeys;

  static_assert(kOutColumns % kWidth == 0);
  static_assert(kRopeDim % kPairLanes == 0);

  // Keys of a block for a panel that is only `vectors` wide.
  static constexpr int Rows(int vectors) {
    const int rows = kRows * kVectors / vectors;
    return rows > 2 * kRows ? 2 * kRows : rows;
  }
};

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

// How many blocks of ForBlocks<kMost> are before the one that begins at `begin`; at times one less.
// Each block asks for as many of the next rows as the tile has keys.
template <int kMost>
constexpr int BlocksBefore(int begin) {
  return (begin + kMost - 1) / kMost;
}

constexpr int kLineElements = 32;  // of a 64-byte cache line

template <int kColumns>
[[gnu::always_inline]] inline void PrefetchColumns(const uint16_t* row, int begin, int width) {
  // A block of columns that is narrower than a line shares it with its neighbours.
  if (kColumns < kLineElements && begin % kLineElements != 0) return;
  for (int d = begin; d < begin + kColumns && d < width; d += kLineElements) {
    __builtin_prefetch(row + d, 0, 2);
  }
}

// Asks for some columns of the next rows that belong to `step`. Only a few lines at a time: a burst
// would hold up the loads of this tile. And not into the first-level cache, which no tile fits
// into. GCC drops calls of a function that only prefetches, so it is inlined by force.
template <typename Arithmetic, int kColumns>
[[gnu::always_inline]] inline void Prefetch(const NextRows& next, int step, int column) {
#pragma GCC unroll 2
  for (int i = 0; i < Arithmetic::kElementsPerLane; ++i) {
    const int row = step * Arithmetic::kElementsPerLane + i;
    if (row >= next.count) return;
    PrefetchColumns<kColumns>(next.keys[row], column, kDim);
    if (next.rope != nullptr) PrefetchColumns<kColumns>(next.rope[row], column, kRopePart.width);
    if (next.values != nullptr) PrefetchColumns<kColumns>(next.values[row], column, kDim);
  }
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
