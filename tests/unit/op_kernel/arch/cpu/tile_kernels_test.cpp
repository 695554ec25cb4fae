// SPDX-License-Identifier: Apache-2.0
// Every instruction set that runs here, against sums in double.
#include "op_kernel/arch/cpu/tile_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/settings.h"
#include "tile_case.h"

namespace sfmla::test {
namespace {

TEST_CASE("tile kernels: unknown or unsupported names are refused with the list") {
  const auto kernels = SelectTileKernels("sse9");
  REQUIRE_FALSE(kernels.ok());
  CHECK(kernels.status().text().find("'sse9'") != std::string::npos);
  CHECK(kernels.status().text().find("generic") != std::string::npos);
}

TEST_CASE("tile kernels: SFMLA_ISA takes the names of all") {
  for (const TileKernels* kernels : UsableTileKernels()) {
    CAPTURE(std::string(kernels->name));
    CHECK(std::find(std::begin(kIsaNames), std::end(kIsaNames), kernels->name) !=
          std::end(kIsaNames));
  }
}

TEST_CASE("tile kernels: the best is picked unless one is named") {
  const auto best = SelectTileKernels("");
  REQUIRE(best.ok());
  const auto named = SelectTileKernels(best.value()->name);
  REQUIRE(named.ok());
  CHECK(named.value() == best.value());
}

// Patterns that a product of bfloat16 pairs may take for 0.
bool MayVanish(const Tile& t, uint16_t pattern) {
  return t.type == ElementType::kBfloat16 && t.products.rounds_weights && (pattern & 0x7F80) == 0;
}

TEST_CASE("tile kernels: every 16-bit pattern, times 1, is itself in float32 and as stored") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    int wrong = 0;
    for (int base = 0; base < 65536; base += static_cast<int>(kHeadDim)) {
      Tile t(kernels, type, few, 1, 1);
      for (int i = 0; i < kHeadDim; ++i) {
        t.latent.kv[Tile::Size(i)] = static_cast<uint16_t>(base + i);
      }
      std::fill(t.scores.begin(), t.scores.end(), 1.0f);
      t.AccumulateScores(true);
      const std::vector<uint16_t> back = t.Stored();
      // In which order elements of `out` stand is the kernels' own affair.
      const std::vector<float> row = t.OutRow(0);
      std::vector<double> exact, found(row.begin(), row.end());
      for (size_t i = 0; i < kHeadDim; ++i) {
        const uint16_t pattern = t.latent.kv[i];
        const double value = WidenExactly(type, pattern);
        const bool vanished = MayVanish(t, pattern) && (back[i] & 0x7FFF) == 0;
        exact.push_back(vanished ? 0 : value);
        if (std::isnan(value)) {
          wrong += !std::isnan(WidenExactly(type, back[i]));
        } else {
          wrong += !vanished && WidenExactly(type, back[i]) != value;
        }
      }
      const auto is_nan = [](double value) { return std::isnan(value); };
      std::erase_if(exact, is_nan);
      std::erase_if(found, is_nan);
      std::sort(exact.begin(), exact.end());
      std::sort(found.begin(), found.end());
      wrong += found != exact;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("tile kernels: rounding is to nearest, ties to even, and overflow gives infinity") {
  struct Row {
    ElementType type;
    float value;
    uint16_t expected;
  };
  // Values halfway between neighbours, worked out by hand.
  const Row rows[] = {
      {ElementType::kBfloat16, 0x1.01p0f, 0x3F80},    {ElementType::kBfloat16, 0x1.03p0f, 0x3F82},
      {ElementType::kBfloat16, 0x1.0101p0f, 0x3F81},  {ElementType::kBfloat16, -0x1.03p0f, 0xBF82},
      {ElementType::kBfloat16, 0x1.FFp127f, 0x7F80},  {ElementType::kBfloat16, 0x1p-130f, 0x0008},
      {ElementType::kBfloat16, 0x1.8p-133f, 0x0002},  {ElementType::kBfloat16, -0x1p-134f, 0x8000},
      {ElementType::kFloat16, 0x1.002p0f, 0x3C00},    {ElementType::kFloat16, 0x1.006p0f, 0x3C02},
      {ElementType::kFloat16, 65519.0f, 0x7BFF},      {ElementType::kFloat16, 65520.0f, 0x7C00},
      {ElementType::kFloat16, 0x1p-25f, 0x0000},      {ElementType::kFloat16, 0x1.8p-24f, 0x0002},
      {ElementType::kFloat16, -0x1.004p-15f, 0x8200},
  };
  for (const TileKernels* kernels : UsableTileKernels()) {
    for (const Row& row : rows) {
      CAPTURE(std::string(kernels->name));
      CAPTURE(row.value);
      const std::vector<float> out(kHeadDim, row.value);
      std::vector<uint16_t> result(kHeadDim);
      const float one = 1.0f;
      kernels->store(row.type, out.data(), &one, 1, result.data());
      CHECK(result.front() == row.expected);
      CHECK(result.back() == row.expected);
    }
  }
}

TEST_CASE("tile kernels: scores, with and without a rotary part") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    for (const int heads : {1, 3, 17, 50, 81}) {
      for (const int keys : {1, 23, ProductsOf(kernels, type, few).tile_keys}) {
        for (const bool with_rope : {false, true}) {
          CAPTURE(heads);
          CAPTURE(keys);
          Tile t(kernels, type, few, heads, keys);
          t.Score(with_rope);
          double worst = 0;
          bool finite = true;
          for (int k = 0; k < keys; ++k) {
            for (int h = 0; h < heads; ++h) worst = Worse(worst, t.ScoreError(with_rope, k, h));
            for (int h = heads; h < t.heads.padded_heads; ++h) {
              finite = finite && std::isfinite(t.ScoreAt(k, h));
            }
          }
          CHECK(worst < kSumTolerance);
          CHECK(finite);
        }
      }
    }
  });
}

TEST_CASE("tile kernels: exp is within 2 units in the last place, 0 far below, NaN kept") {
  for (const TileKernels* kernels : UsableTileKernels()) {
    CAPTURE(std::string(kernels->name));
    const int padded = PadHeads(1, kernels->head_alignment);
    double worst = 0;
    for (float x = 0; x > -87.3f; x -= 0.00371f) {
      // The first key is the maximum 0, so the second probability is exp(x).
      std::vector<float> scores(static_cast<size_t>(2 * padded), 0.0f);
      std::fill(scores.begin() + padded, scores.end(), x);
      std::vector<float> max(padded, kLowestScore), sum(padded, 0), rescale(padded, 0);
      kernels->softmax(scores.data(), 2, padded, 1.0f, {max.data(), sum.data(), rescale.data()});
      const double exact = std::exp(static_cast<double>(x));
      const double found = scores[static_cast<size_t>(padded)];
      const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
      worst = Worse(worst, std::abs(found - exact) / ulp);
    }
    CHECK(worst <= 2.0);

    for (const float far : {-88.0f, -200.0f, -300.0f, -1000.0f}) {
      CAPTURE(far);
      std::vector<float> scores(static_cast<size_t>(3 * padded), 0.0f);
      std::fill_n(scores.begin() + padded, padded, far);
      std::fill_n(scores.begin() + 2 * padded, padded, std::nanf(""));
      std::vector<float> max(padded, kLowestScore), sum(padded, 0), rescale(padded, 0);
      kernels->softmax(scores.data(), 3, padded, 1.0f, {max.data(), sum.data(), rescale.data()});
      CHECK(scores[0] == 1.0f);
      CHECK(scores[static_cast<size_t>(padded)] == 0.0f);
      CHECK(std::isnan(scores[static_cast<size_t>(2 * padded)]));
      CHECK(std::isnan(sum[0]));
    }
  }
}

// The largest error of `out` after two calls, relative to the sum of magnitudes. Both had the same
// weights, and the second rescaled what the first left.
double AccumulateError(const Tile& t) {
  const bool rounds = t.products.rounds_weights;
  double worst = 0;
  // Elements are found by value, as their order is not known: each row sorts alike.
  for (int h = 0; h < t.heads.heads; ++h) {
    std::vector<double> exact(kHeadDim), size(kHeadDim);
    for (int d = 0; d < kHeadDim; ++d) {
      for (int k = 0; k < t.keys; ++k) {
        const float weight = Tile::Weight(k, h);
        const double term = (rounds ? RoundTo(t.type, weight) : weight) *
                            WidenExactly(t.type, t.latent.rows[Tile::Size(k)][d]);
        exact[Tile::Size(d)] += term;
        size[Tile::Size(d)] += std::abs(term);
      }
      exact[Tile::Size(d)] *= 1 + static_cast<double>(t.rescale[Tile::Size(h)]);
    }
    const double largest = 2 * *std::max_element(size.begin(), size.end());
    const std::vector<float> row = t.OutRow(h);
    std::vector<double> found(row.begin(), row.end());
    std::sort(exact.begin(), exact.end());
    std::sort(found.begin(), found.end());
    for (size_t d = 0; d < kHeadDim; ++d) {
      const double error = std::abs(found[d] - exact[d]) / largest;
      worst = Worse(worst, error);
    }
  }
  return worst;
}

TEST_CASE("tile kernels: accumulate starts anew, then rescales what was there") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    for (const int heads : {1, 7, 13, 33}) {
      for (const int keys : {1, 37, ProductsOf(kernels, type, few).tile_keys}) {
        CAPTURE(heads);
        CAPTURE(keys);
        Tile t(kernels, type, few, heads, keys);
        for (size_t h = 0; h < t.rescale.size(); ++h) {
          t.rescale[h] = 0.5f + static_cast<float>(h) / 256;
        }
        // Asking for a next tile, of fewer rows, changes nothing.
        t.Accumulate(true);
        t.Accumulate(false, {t.latent.rows.data(), t.rope.rows.data(), nullptr, keys / 2});
        CHECK(AccumulateError(t) < kSumTolerance);
      }
    }
  });
}

TEST_CASE("tile kernels: weights far below those that float16 can hold are not lost") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    const int keys = ProductsOf(kernels, type, few).tile_keys;
    for (const float weight : {0x1p-26f, 0x1.8p-38f}) {
      CAPTURE(weight);
      Tile t(kernels, type, few, 17, keys);
      const uint16_t one = type == ElementType::kBfloat16 ? 0x3F80 : 0x3C00;
      std::fill(t.latent.kv.begin(), t.latent.kv.end(), one);
      std::fill(t.scores.begin(), t.scores.end(), weight);
      t.AccumulateScores(true);
      const std::vector<float> all(kHeadDim, static_cast<float>(keys) * weight);
      CHECK(t.OutRow(0) == all);
      CHECK(t.OutRow(16) == all);
    }
  });
}

TEST_CASE("tile kernels: values that are the keys, left by the scores, give the bits of others") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    for (const int keys : {37, ProductsOf(kernels, type, few).tile_keys}) {
      Tile own(kernels, type, few, 33, keys);
      own.Accumulate(true);
      Tile shared(kernels, type, few, 33, keys);
      shared.values_are_keys = true;
      shared.Score(false);
      shared.Accumulate(true);
      CHECK(shared.out == own.out);
    }
  });
}

TEST_CASE("tile kernels: asking for rows, fewer or more than there are keys, changes no bit") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    Tile expected(kernels, type, few, 33, 20);
    expected.Accumulate(true);
    std::vector<const uint16_t*> rows(100, expected.latent.rows[0]);
    std::vector<const uint16_t*> rope(100, expected.rope.rows[0]);
    for (const int count : {1, 20, 23, 100}) {
      Tile t(kernels, type, few, 33, 20);
      t.Accumulate(true, {rows.data(), rope.data(), rows.data(), count});
      CHECK(t.out == expected.out);
      t.Accumulate(true, {rows.data(), nullptr, nullptr, count});
      CHECK(t.out == expected.out);
    }
  });
}

TEST_CASE("next rows: what is left after some") {
  const uint16_t row[1] = {};
  const uint16_t* const rows[3] = {row, row, row};
  const NextRows all{rows, nullptr, rows, 3};
  const NextRows left = all.After(1);
  CHECK(left.keys == rows + 1);
  CHECK(left.rope == nullptr);
  CHECK(left.values == rows + 1);
  CHECK(left.count == 2);
  CHECK(all.After(3).count == 0);
}

TEST_CASE("tile kernels: merge adds two outputs, each times a factor of its head") {
  for (const TileKernels* kernels : UsableTileKernels()) {
    for (const int heads : {1, 3, 17}) {
      CAPTURE(std::string(kernels->name));
      CAPTURE(heads);
      std::mt19937 random(heads);
      std::normal_distribution<float> normal;
      const auto numbers = [&](int64_t count) {
        std::vector<float> out(Tile::Size(count));
        for (float& number : out) number = normal(random);
        return out;
      };
      std::vector<float> out = numbers(heads * kHeadDim);
      const std::vector<float> before = out, part = numbers(heads * kHeadDim);
      const std::vector<float> keep = numbers(heads), add = numbers(heads);
      kernels->merge(out.data(), keep.data(), part.data(), add.data(), heads);
      double worst = 0;
      for (int h = 0; h < heads; ++h) {
        for (int d = 0; d < kHeadDim; ++d) {
          const size_t i = Tile::Size(OutOffset(heads, h, d));
          const double kept = static_cast<double>(before[i]) * keep[Tile::Size(h)];
          const double added = static_cast<double>(part[i]) * add[Tile::Size(h)];
          worst =
              Worse(worst, std::abs(out[i] - kept - added) / (std::abs(kept) + std::abs(added)));
        }
      }
      CHECK(worst <= 0x1p-23);  // two roundings of half a unit each
    }
  }
}

TEST_CASE("tile kernels: outputs are stored in the order of the values") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    Tile t(kernels, type, few, 3, 2);
    // Weights that every type holds exactly, and one of them 0.
    for (size_t i = 0; i < t.scores.size(); ++i) {
      t.scores[i] = i < Tile::Size(t.heads.padded_heads) ? 0.5f : 0.0f;
    }
    t.AccumulateScores(true);
    const std::vector<uint16_t> stored = t.Stored();
    int wrong = 0;
    for (int i = 0; i < 3 * kHeadDim; ++i) {
      const double half = WidenExactly(type, t.latent.kv[Tile::Size(i % kHeadDim)]) / 2;
      wrong += WidenExactly(type, stored[Tile::Size(i)]) != half;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("tile kernels: an infinite value of a key without a partner stays infinite") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    Tile t(kernels, type, few, 2, 3);
    const uint16_t infinity = type == ElementType::kBfloat16 ? 0x7F80 : 0x7C00;
    std::fill_n(t.latent.kv.begin() + 2 * kHeadDim, kHeadDim, infinity);
    std::fill(t.scores.begin(), t.scores.end(), 0.25f);
    t.AccumulateScores(true);
    const auto is_infinite = [](float value) { return value == HUGE_VALF; };
    CHECK(std::all_of(t.out.begin(), t.out.end(), is_infinite));
  });
}

TEST_CASE("tile kernels: the bits of a score or an output do not depend on neighbours") {
  ForAllProducts([](const TileKernels& kernels, ElementType type, bool few) {
    constexpr int kHeads = 75;
    const int keys_of_all = ProductsOf(kernels, type, few).tile_keys;
    Tile all(kernels, type, few, kHeads, keys_of_all);
    all.Score(true);
    const std::vector<float> scores = all.scores;
    std::fill(all.rescale.begin(), all.rescale.end(), 0.5f);
    all.Accumulate(true);
    all.Accumulate(false);
    for (const int heads : {1, 3, 8, 17, 33, 64}) {
      CAPTURE(heads);
      for (const int keys : {1, 7, keys_of_all}) {
        CAPTURE(keys);
        Tile some(kernels, type, few, heads, keys);
        for (const auto part : {&Tile::latent, &Tile::rope}) {
          (some.*part).q = (all.*part).q;
          (some.*part).kv = (all.*part).kv;
          (some.*part).Point(keys);
        }
        some.Score(true);
        bool same = true;
        for (int k = 0; k < keys; ++k) {
          const float* one = some.scores.data() + k * some.heads.padded_heads;
          same = same && std::equal(one, one + heads, scores.data() + k * all.heads.padded_heads);
        }
        CHECK(same);
        if (keys < keys_of_all) continue;
        std::fill(some.rescale.begin(), some.rescale.end(), 0.5f);
        some.Accumulate(true);
        some.Accumulate(false);
        for (int head = 0; head < heads; ++head) {
          same = same && some.OutRow(head) == all.OutRow(head);
        }
        CHECK(same);
      }
    }
  });
}

}  // namespace
}  // namespace sfmla::test
