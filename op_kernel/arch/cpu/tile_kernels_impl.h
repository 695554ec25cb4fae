// SPDX-License-Identifier: Apache-2.0
// The tile kernels, written once in terms of vector.h. Each tile_kernels_<isa>.cpp includes this
// with its own flags and SFMLA_ISA_NAMESPACE.
#pragma once

#include "op_kernel/arch/cpu/arithmetic_impl.h"
#include "op_kernel/arch/cpu/panel_outputs_impl.h"
#include "op_kernel/arch/cpu/panel_scores_impl.h"
#include "op_kernel/arch/cpu/row_kernels_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

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

void Merge(float* out, const float* out_factor, const float* part, const float* part_factor,
           int heads) {
  for (int i = 0; i < heads * kDim; i += kOutColumns) {
    const int head = i / kOutColumns % heads;
    const Vec keep = Broadcast(out_factor[head]);
    const Vec add = Broadcast(part_factor[head]);
    for (int d = i; d < i + kOutColumns; d += kLanes) {
      Store(out + d, Fma(Load(part + d), add, Load(out + d) * keep));
    }
  }
}

void StoreResult(ElementType type, const float* out, const float* factor, int heads,
                 uint16_t* result) {
  for (int head = 0; head < heads; ++head) {
    for (int d = 0; d < kDim; d += kPairLanes) {
      const float* from = out + OutOffset(heads, head, d);
      const VecPair pair{Load(from) * factor[head], Load(from + kLanes) * factor[head]};
      if (type == ElementType::kBfloat16) {
        NarrowPairBfloat16(pair, result + head * kDim + d);
      } else {
        NarrowPairFloat16(pair, result + head * kDim + d);
      }
    }
  }
}

int64_t Peak(int64_t steps) {
  constexpr int kChains = 12;
  // The compiler must not see that all chains start alike, or it computes one of them.
  volatile float start = 1;
  Vec sums[kChains];
#pragma GCC unroll 12
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = Broadcast(start);
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
#pragma GCC unroll 12
  for (int chain = 0; chain < kChains; ++chain) sink = sink + sums[chain][0];
  return 2 * kLanes * kChains * steps;
}

// Up to this many heads the products of row_kernels_impl.h are the faster ones (measured
// on x86-64).
constexpr int kFewHeads = kLanes >= 16 ? 24 : kLanes >= 8 ? 12 : 4;

static_assert(kFewHeads <= kMostFewHeads);

template <typename Arithmetic>
constexpr TypeProducts MakeProducts() {
  constexpr bool kRoundsWeights = Arithmetic::kElementsPerLane == 2;
  constexpr float kOutScale = Arithmetic::kWeightScale;
  return {kFewHeads,
          {kRowTileKeys, PrepareQueryRows<Arithmetic>, ScoreRows<Arithmetic>,
           AccumulateRows<Arithmetic>, kRoundsWeights, kOutScale},
          {PanelShape<Arithmetic>::kTileKeys, PrepareQueryPanels<Arithmetic>,
           ScorePanels<Arithmetic>, AccumulatePanels<Arithmetic>, kRoundsWeights, kOutScale}};
}

using Float16Arithmetic = WidenedArithmetic<ElementType::kFloat16>;
#if defined(SFMLA_HAS_PAIR_PRODUCTS)
using Bfloat16Arithmetic = PairArithmetic;
#else
using Bfloat16Arithmetic = WidenedArithmetic<ElementType::kBfloat16>;
#endif

constexpr TileKernels MakeTable(const char* name,
                                const TypeProducts& bfloat16 = MakeProducts<Bfloat16Arithmetic>(),
                                const TypeProducts& float16 = MakeProducts<Float16Arithmetic>()) {
  return {name, kLanes, float16, bfloat16, Softmax, Merge, StoreResult, Peak};
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
