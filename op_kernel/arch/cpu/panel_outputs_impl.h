// SPDX-License-Identifier: Apache-2.0
// Outputs for many heads: a tile of values, prepared once for all of them, times a weight of each
// head. Part of tile_kernels_impl.h.
#pragma once

#include "op_kernel/arch/cpu/arithmetic_impl.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/arch/cpu/vector.h"

namespace sfmla::SFMLA_ISA_NAMESPACE {

// kRows heads x Shape::kHeads columns of the output.
template <typename Arithmetic>
struct AccumulateBlock {
  static constexpr int kVectors = PanelShape<Arithmetic>::kVectors;

  const AccumulateCall& call;
  int column;

  template <int kRows>
  void Run(int head) const {
    const float* tile = call.tile.latent + column;
    const float* weights = call.scores + head;
    const int weight_stride = call.heads.padded_heads;
    float* out = call.out + head * kDim + column;
    // Once is enough: the first block of heads asks for the next tile.
    const NextRows wanted = head == 0 ? call.next : NextRows{};
    Vec sums[kRows][kVectors];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] =
            call.first ? Vec{} : Load(out + r * kDim + v * kLanes) * call.rescale[head + r];
      }
    }
    const int steps = StepsOf<Arithmetic>(call.keys);
    for (int step = 0; step < steps; ++step) {
      Prefetch<Arithmetic, kVectors * kLanes>(wanted, step, column);
      Vec values[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        values[v] = Load(tile + step * kLatentPart.stride + v * kLanes);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec weight = Arithmetic::BroadcastWeight(weights + step * weight_stride + r);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = Arithmetic::MultiplyAdd(weight, values[v], sums[r][v]);
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) Store(out + r * kDim + v * kLanes, sums[r][v]);
    }
  }
};

// Values of a tile, one row of it a step: widened, or paired with those of the next key.
template <typename Arithmetic>
void PrepareValues(const uint16_t* const* rows, int keys, float* tile) {
  for (int step = 0; step < StepsOf<Arithmetic>(keys); ++step) {
    float* to = tile + step * kLatentPart.stride;
    for (int d = 0; d < kDim; d += kPairLanes) {
      const VecPair values = Arithmetic::LoadValues(rows, step, keys, d);
      Store(to + d, values.first);
      Store(to + d + kLanes, values.second);
    }
  }
}

template <typename Arithmetic>
void AccumulatePanels(const AccumulateCall& call) {
  using Shape = PanelShape<Arithmetic>;
  Arithmetic::PrepareWeights(call.scores, call.keys, call.heads.padded_heads);
  // Keys that had to be widened are in the tile already.
  if (Arithmetic::kElementsPerLane > 1 || !call.values_are_keys) {
    PrepareValues<Arithmetic>(call.values, call.keys, call.tile.latent);
  }
  for (int column = 0; column < kDim; column += Shape::kHeads) {
    ForBlocks<Shape::kRows>(call.heads.heads, AccumulateBlock<Arithmetic>{call, column});
  }
}

}  // namespace sfmla::SFMLA_ISA_NAMESPACE
