// SPDX-License-Identifier: Apache-2.0
// A tile of keys with all buffers for its products, for every instruction set that runs here.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "op_kernel/arch/cpu/tile_kernels.h"

namespace sfmla::test {

// A chain of 512 float32 additions may lose 512 half units of 2^-24 of the sum of magnitudes.
inline constexpr double kSumTolerance = 512 * 0x1p-24;

inline constexpr ElementType kTypes[] = {ElementType::kFloat16, ElementType::kBfloat16};

// The larger error; a NaN is the worst.
inline double Worse(double worst, double error) { return error <= worst ? worst : error; }

inline double WidenExactly(ElementType type, uint16_t value) {
  if (type == ElementType::kBfloat16) {
    return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
  }
  const int exponent = value >> 10 & 31;
  const int mantissa = value & 1023;
  const double magnitude = exponent == 31  ? (mantissa ? std::nan("") : HUGE_VAL)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return value & 0x8000 ? -magnitude : magnitude;
}

// What `weight` is as a normal number of 16 bits, half to even.
inline double RoundTo(ElementType type, float weight) {
  const int unit = std::ilogb(weight) - (type == ElementType::kBfloat16 ? 7 : 10);
  return std::ldexp(std::nearbyint(std::ldexp(weight, -unit)), unit);
}

inline const TileProducts& ProductsOf(const TileKernels& kernels, ElementType type, bool few) {
  const TypeProducts& products = kernels.Products(type);
  return few ? products.few : products.many;
}

// One tile and all buffers for its products, filled from a fixed seed.
struct Tile {
  static constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

  Tile(const TileKernels& kernels_in, ElementType type_in, bool few, int heads_in, int keys_in)
      : kernels(kernels_in),
        type(type_in),
        products(ProductsOf(kernels, type, few)),
        heads{heads_in, PadHeads(heads_in, kernels.head_alignment)},
        keys(keys_in),
        scores(Size(kMaxTileKeys * heads.padded_heads), kPoison),
        rescale(Size(heads.padded_heads), 0.0f),
        out(Size(heads.heads * kHeadDim), kPoison),
        tile(Size(kWidenedKeys * kLatentPart.stride), kPoison),
        rope_tile(Size(kWidenedKeys * kRopePart.stride), kPoison) {
    for (Part* part : {&latent, &rope}) {
      part->q = Random(heads.heads * part->shape.width);
      part->kv = Random(keys * part->shape.width);
      part->Point(keys);
      part->query.assign(Size(heads.padded_heads * part->shape.stride), kPoison);
    }
  }

  static size_t Size(int64_t count) { return static_cast<size_t>(count); }

  std::vector<uint16_t> Random(int64_t count) const {
    std::mt19937 random(static_cast<uint32_t>(count));
    std::normal_distribution<float> normal;
    std::vector<uint16_t> values(Size(count));
    for (uint16_t& value : values) {
      // Any finite pattern of moderate size will do: sign, exponent near 0, free mantissa.
      const auto bits = std::bit_cast<uint32_t>(normal(random));
      value = type == ElementType::kBfloat16
                  ? static_cast<uint16_t>(bits >> 16)
                  : static_cast<uint16_t>((bits >> 16 & 0x8000) | (0x3400 + (bits & 0x7FF)));
    }
    return values;
  }

  struct Part {
    KeyPart shape;
    std::vector<uint16_t> q = {};
    std::vector<uint16_t> kv = {};
    std::vector<const uint16_t*> rows = {};
    std::vector<float> query = {};

    void Point(int count) {
      rows.clear();
      for (int k = 0; k < count; ++k) rows.push_back(kv.data() + k * shape.width);
    }
  };

  void Score(bool with_rope) {
    ScoreCall call;
    call.keys = keys;
    call.heads = heads;
    call.tile = {tile.data(), rope_tile.data()};
    call.scores = scores.data();
    for (Part* part : {&latent, &rope}) {
      if (part == &rope && !with_rope) continue;
      products.prepare_query(part->q.data(), heads, part->shape, part->query.data());
      (part == &rope ? call.rope : call.latent) = {part->query.data(), part->rows.data(),
                                                   part->shape};
    }
    products.score(call);
  }

  // Relative to the sum of magnitudes.
  double ScoreError(bool with_rope, int key, int head) const {
    double exact = 0, size = 0;
    for (const Part* part : {&latent, &rope}) {
      if (part == &rope && !with_rope) continue;
      for (int d = 0; d < part->shape.width; ++d) {
        const double term = WidenExactly(type, part->q[Size(head * part->shape.width + d)]) *
                            WidenExactly(type, part->rows[Size(key)][d]);
        exact += term;
        size += std::abs(term);
      }
    }
    return std::abs(ScoreAt(key, head) - exact) / size;
  }

  // The elements of a head in `out`, unscaled, in an order that is the kernels' own affair.
  std::vector<float> OutRow(int head) const {
    std::vector<float> row;
    for (int d = 0; d < kHeadDim; ++d) {
      row.push_back(out[Size(OutOffset(heads.heads, head, d))] / products.out_scale);
    }
    return row;
  }

  float ScoreAt(int key, int head) const { return scores[Size(key * heads.padded_heads + head)]; }

  // Probabilities that have more digits than a 16-bit number.
  static float Weight(int key, int head) {
    return static_cast<float>(1 + (key * 37 + head * 11) % 91) / 93.7f;
  }

  // Weights instead of the scores that are there.
  void Accumulate(bool first, const NextRows& next = {}) {
    for (int k = 0; k < keys; ++k) {
      for (int h = 0; h < heads.padded_heads; ++h) {
        scores[Size(k * heads.padded_heads + h)] = Weight(k, h);
      }
    }
    AccumulateScores(first, next);
  }

  void AccumulateScores(bool first, const NextRows& next = {}) {
    AccumulateCall call;
    call.scores = scores.data();
    call.values = latent.rows.data();
    call.values_are_keys = values_are_keys;
    call.keys = keys;
    call.heads = heads;
    call.rescale = rescale.data();
    call.first = first;
    call.next = next;
    call.tile = {tile.data(), rope_tile.data()};
    call.out = out.data();
    products.accumulate(call);
  }

  // `out`, in the order of elements that results have.
  std::vector<uint16_t> Stored() const {
    const std::vector<float> factor(Size(heads.heads), 1 / products.out_scale);
    std::vector<uint16_t> stored(out.size());
    kernels.store(type, out.data(), factor.data(), heads.heads, stored.data());
    return stored;
  }

  const TileKernels& kernels;
  ElementType type;
  const TileProducts& products;
  HeadCount heads;
  int keys;
  bool values_are_keys = false;
  Part latent{kLatentPart};
  Part rope{kRopePart};
  std::vector<float> scores, rescale, out, tile, rope_tile;
};

// Calls check(kernels, type, few) for all products there are here.
template <typename Check>
void ForAllProducts(const Check& check) {
  for (const TileKernels* kernels : UsableTileKernels()) {
    for (const ElementType type : kTypes) {
      for (const bool few : {true, false}) {
        CAPTURE(std::string(kernels->name));
        CAPTURE(type == ElementType::kBfloat16);
        CAPTURE(few);
        check(*kernels, type, few);
      }
    }
  }
}

}  // namespace sfmla::test
