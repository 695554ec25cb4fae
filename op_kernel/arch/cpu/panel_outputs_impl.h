// SPDX-License-Identifier: Apache-2.0
// Outputs for many heads: some columns of a tile of values at a time, prepared once for all heads,
// times a weight of each head. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/arithmetic_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

// kRows heads x kVectors * kLanes columns of the output. A step of `values` is kValueStride long.
template <typename Arithmetic, int kValueStride>
struct AccumulateBlock {
  static constexpr int kVectors = PanelShape<Arithmetic>::kVectors;

  const AccumulateCall& call;
  const float* values;
  int column;

  template <int kRows>
  void Run(int head) const {
    const float* weights = call.scores + head;
    const int weight_stride = call.heads.padded_heads;
    float* out = call.out + OutOffset(call.heads.heads, head, column);
    const NextRows wanted =
        call.next.After(BlocksBefore<PanelShape<Arithmetic>::kRows>(head) * call.keys);
    Vec sums[kRows][kVectors];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const float* sum = out + r * kOutColumns + v * kLanes;
        sums[r][v] = call.first ? Vec{} : Load(sum) * call.rescale[head + r];
      }
    }
    const int steps = StepsOf<Arithmetic>(call.keys);
    for (int step = 0; step < steps; ++step) {
      Prefetch<Arithmetic, kVectors * kLanes>(wanted, step, column);
      Vec elements[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        elements[v] = Load(values + step * kValueStride + v * kLanes);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec weight = Arithmetic::BroadcastWeight(weights + step * weight_stride + r);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = Arithmetic::MultiplyAdd(weight, elements[v], sums[r][v]);
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) Store(out + r * kOutColumns + v * kLanes, sums[r][v]);
    }
  }
};

// kColumns columns of the values of a tile, one row of `to` a step: widened, or paired with those
// of the next key.
template <typename Arithmetic, int kColumns>
void PrepareValues(const uint16_t* const* rows, int keys, int column, float* to) {
  for (int step = 0; step < StepsOf<Arithmetic>(keys); ++step, to += kColumns) {
#pragma GCC unroll 4
    for (int d = 0; d < kColumns; d += kPairLanes) {
      const VecPair values = Arithmetic::LoadValues(rows, step, keys, column + d);
      Store(to + d, values.first);
      Store(to + d + kLanes, values.second);
    }
  }
}

template <typename Arithmetic>
void AccumulatePanels(const AccumulateCall& call) {
  constexpr int kRows = PanelShape<Arithmetic>::kRows;
  constexpr int kColumns = PanelShape<Arithmetic>::kWidth;
  static_assert(StepsOf<Arithmetic>(PanelShape<Arithmetic>::kTileKeys) * kColumns <=
                kWidenedKeys * kLatentPart.stride);
  const int heads = call.heads.heads;
  Arithmetic::PrepareWeights(call.scores, call.keys, call.heads.padded_heads);
  for (int column = 0; column < kDim; column += kColumns) {
    // Keys that had to be widened are in the tile already.
    if (Arithmetic::kElementsPerLane == 1 && call.values_are_keys) {
      const float* values = call.tile.latent + column;
      ForBlocks<kRows>(heads,
                       AccumulateBlock<Arithmetic, kLatentPart.stride>{call, values, column});
    } else {
      PrepareValues<Arithmetic, kColumns>(call.values, call.keys, column, call.tile.latent);
      ForBlocks<kRows>(heads,
                       AccumulateBlock<Arithmetic, kColumns>{call, call.tile.latent, column});
    }
  }
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
