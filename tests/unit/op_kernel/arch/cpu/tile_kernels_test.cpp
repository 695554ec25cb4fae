// SPDX-License-Identifier: Apache-2.0
// Every instruction set that runs here, against sums in double.
#include "op_kernel/arch/cpu/tile_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sfmla {
namespace {

// A chain of 512 float32 additions may lose 512 half units of 2^-24 of the sum of magnitudes.
constexpr double kSumTolerance = 512 * 0x1p-24;

std::vector<const TileKernels*> AllKernels() {
  std::vector<const TileKernels*> out;
  for (const char* name : {"generic", "avx2", "avx512", "neon"}) {
    if (const auto kernels = SelectTileKernels(name); kernels.ok()) out.push_back(kernels.value());
  }
  return out;
}

// A tile, a query and all buffers for one call, filled from a fixed seed.
struct Buffers {
  Buffers(const TileKernels& kernels, int heads_in, int keys_in, ElementType type)
      : heads(heads_in),
        keys(keys_in),
        padded(PadHeads(heads, kernels.head_alignment)),
        q(Random(heads * kHeadDim, type)),
        kv(Random(keys * kHeadDim, type)),
        query(padded * kHeadDim),
        tile(kTileKeys * kLatentPart.stride),
        scores(kTileKeys * padded),
        max(padded, kLowestScore),
        sum(padded, 0.0f),
        rescale(padded),
        out(heads * kHeadDim, std::numeric_limits<float>::quiet_NaN()) {
    std::vector<const uint16_t*> rows;
    for (int k = 0; k < keys; ++k) rows.push_back(kv.data() + k * kHeadDim);
    kernels.widen_rows(type, rows.data(), keys, kLatentPart, tile.data());
    kernels.transpose_query(type, q.data(), heads, kLatentPart, query.data());
  }

  static std::vector<uint16_t> Random(int64_t count, ElementType type) {
    std::mt19937 random(static_cast<uint32_t>(count));
    std::normal_distribution<float> normal;
    std::vector<uint16_t> out(static_cast<size_t>(count));
    for (uint16_t& value : out) {
      // Any finite pattern of moderate size will do: sign, exponent near 0, free mantissa.
      const auto bits = std::bit_cast<uint32_t>(normal(random));
      value = type == ElementType::kBfloat16
                  ? static_cast<uint16_t>(bits >> 16)
                  : static_cast<uint16_t>((bits >> 16 & 0x8000) | (0x3400 + (bits & 0x7FF)));
    }
    return out;
  }

  int heads;
  int keys;
  size_t padded;
  std::vector<uint16_t> q;
  std::vector<uint16_t> kv;
  std::vector<float> query, tile, scores, max, sum, rescale, out;
};

double WidenExactly(ElementType type, uint16_t value) {
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

TEST_CASE("tile kernels: unknown or unsupported names are refused with the list") {
  const auto kernels = SelectTileKernels("sse9");
  REQUIRE_FALSE(kernels.ok());
  CHECK(kernels.status().text().find("'sse9'") != std::string::npos);
  CHECK(kernels.status().text().find("generic") != std::string::npos);
}

TEST_CASE("tile kernels: every 16-bit pattern widens exactly and rounds back to itself") {
  for (const TileKernels* kernels : AllKernels()) {
    CAPTURE(std::string(kernels->name));
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
      int wrong = 0;
      for (int base = 0; base < 65536; base += kHeadDim) {
        std::vector<uint16_t> row(kHeadDim);
        for (int i = 0; i < kHeadDim; ++i)
          row[static_cast<size_t>(i)] = static_cast<uint16_t>(base + i);
        const uint16_t* rows[] = {row.data()};
        std::vector<float> tile(kLatentPart.stride);
        kernels->widen_rows(type, rows, 1, kLatentPart, tile.data());
        std::vector<uint16_t> back(kHeadDim);
        const float one = 1.0f;
        kernels->store(type, tile.data(), &one, 1, back.data());
        // In which order widened elements stand is the kernels' own affair.
        std::vector<double> exact, found(tile.begin(), tile.begin() + kHeadDim);
        for (size_t i = 0; i < kHeadDim; ++i) {
          exact.push_back(WidenExactly(type, row[i]));
          wrong +=
              std::isnan(exact[i]) ? !std::isnan(WidenExactly(type, back[i])) : back[i] != row[i];
        }
        const auto is_nan = [](double value) { return std::isnan(value); };
        std::erase_if(exact, is_nan);
        std::erase_if(found, is_nan);
        std::sort(exact.begin(), exact.end());
        std::sort(found.begin(), found.end());
        wrong += found != exact;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("tile kernels: rounding is to nearest, ties to even, and overflow gives infinity") {
  struct Row {
    ElementType type;
    float value;
    uint16_t expected;
  };
  // Values halfway between neighbours, worked out by hand.
  const Row rows[] = {
      {ElementType::kBfloat16, 0x1.01p0f, 0x3F80},   {ElementType::kBfloat16, 0x1.03p0f, 0x3F82},
      {ElementType::kBfloat16, 0x1.0101p0f, 0x3F81}, {ElementType::kBfloat16, -0x1.03p0f, 0xBF82},
      {ElementType::kBfloat16, 0x1.FFp127f, 0x7F80}, {ElementType::kFloat16, 0x1.002p0f, 0x3C00},
      {ElementType::kFloat16, 0x1.006p0f, 0x3C02},   {ElementType::kFloat16, 65519.0f, 0x7BFF},
      {ElementType::kFloat16, 65520.0f, 0x7C00},     {ElementType::kFloat16, 0x1p-25f, 0x0000},
      {ElementType::kFloat16, 0x1.8p-24f, 0x0002},   {ElementType::kFloat16, -0x1.004p-15f, 0x8200},
  };
  for (const TileKernels* kernels : AllKernels()) {
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

TEST_CASE("tile kernels: scores") {
  for (const TileKernels* kernels : AllKernels()) {
    for (const int heads : {1, 3, 8, 17, 64, 128}) {
      for (const int keys : {1, 5, 6, 13, 63, 64}) {
        Buffers b(*kernels, heads, keys, ElementType::kBfloat16);
        kernels->score(b.query.data(), b.tile.data(), keys, kLatentPart, static_cast<int>(b.padded),
                       Onto::kNothing, b.scores.data());
        double worst = 0;
        for (int k = 0; k < keys; ++k) {
          for (int h = 0; h < heads; ++h) {
            double exact = 0, size = 0;
            for (int d = 0; d < kHeadDim; ++d) {
              const double term = WidenExactly(ElementType::kBfloat16, b.q[h * kHeadDim + d]) *
                                  WidenExactly(ElementType::kBfloat16, b.kv[k * kHeadDim + d]);
              exact += term;
              size += std::abs(term);
            }
            const double found = b.scores[static_cast<size_t>(k) * b.padded + h];
            worst = std::max(worst, std::abs(found - exact) / size);
          }
        }
        CAPTURE(std::string(kernels->name));
        CAPTURE(heads);
        CAPTURE(keys);
        CHECK(worst < kSumTolerance);
      }
    }
  }
}

TEST_CASE("tile kernels: exp is within 2 units in the last place, 0 far below, NaN kept") {
  for (const TileKernels* kernels : AllKernels()) {
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
      worst = std::max(worst, std::abs(found - exact) / ulp);
    }
    CHECK(worst <= 2.0);

    std::vector<float> scores(static_cast<size_t>(3 * padded), 0.0f);
    std::fill_n(scores.begin() + padded, padded, -1000.0f);
    std::fill_n(scores.begin() + 2 * padded, padded, std::nanf(""));
    std::vector<float> max(padded, kLowestScore), sum(padded, 0), rescale(padded, 0);
    kernels->softmax(scores.data(), 3, padded, 1.0f, {max.data(), sum.data(), rescale.data()});
    CHECK(scores[0] == 1.0f);
    CHECK(scores[static_cast<size_t>(padded)] == 0.0f);
    CHECK(std::isnan(scores[static_cast<size_t>(2 * padded)]));
    CHECK(std::isnan(sum[0]));
  }
}

TEST_CASE("tile kernels: accumulate") {
  for (const TileKernels* kernels : AllKernels()) {
    for (const int heads : {1, 7, 64}) {
      Buffers b(*kernels, heads, 37, ElementType::kFloat16);
      for (size_t i = 0; i < b.scores.size(); ++i) b.scores[i] = 0.01f * static_cast<float>(i % 91);
      for (size_t h = 0; h < b.padded; ++h) b.rescale[h] = 0.5f + static_cast<float>(h) / 256;
      const int padded = static_cast<int>(b.padded);
      // Twice: `first` ignores what the buffer held (NaN), the second call rescales it.
      kernels->accumulate(b.scores.data(), b.tile.data(), 37, heads, padded, b.rescale.data(), true,
                          {}, b.out.data());
      kernels->accumulate(b.scores.data(), b.tile.data(), 37, heads, padded, b.rescale.data(),
                          false, {}, b.out.data());
      double worst = 0;
      for (int h = 0; h < heads; ++h) {
        for (int d = 0; d < kHeadDim; ++d) {
          double once = 0, size = 0;
          for (int k = 0; k < 37; ++k) {
            const double term = static_cast<double>(b.scores[static_cast<size_t>(k * padded + h)]) *
                                WidenExactly(ElementType::kFloat16, b.kv[k * kHeadDim + d]);
            once += term;
            size += std::abs(term);
          }
          const double exact = once * b.rescale[static_cast<size_t>(h)] + once;
          worst = std::max(
              worst, std::abs(b.out[static_cast<size_t>(h * kHeadDim + d)] - exact) / (2 * size));
        }
      }
      CAPTURE(std::string(kernels->name));
      CAPTURE(heads);
      CHECK(worst < kSumTolerance);
    }
  }
}

TEST_CASE("tile kernels: the bits of a score or an output do not depend on neighbours") {
  for (const TileKernels* kernels : AllKernels()) {
    CAPTURE(std::string(kernels->name));
    Buffers all(*kernels, 64, 64, ElementType::kBfloat16);
    const int padded = static_cast<int>(all.padded);
    kernels->score(all.query.data(), all.tile.data(), 64, kLatentPart, padded, Onto::kNothing,
                   all.scores.data());
    std::vector<float> few(all.scores.size());
    kernels->score(all.query.data(), all.tile.data(), 11, kLatentPart, padded, Onto::kNothing,
                   few.data());
    const auto end = all.scores.begin() + 11 * padded;
    CHECK(std::equal(all.scores.begin(), end, few.begin()));
  }
}

// Query heads and keys of one tile, latent and rotary part, for the kernels that read keys as they
// are.
struct RowBuffers {
  RowBuffers(const TileKernels& kernels, int heads_in, int keys_in, ElementType type_in)
      : heads(heads_in),
        keys(keys_in),
        type(type_in),
        padded(PadHeads(heads, kernels.head_alignment)),
        scores(static_cast<size_t>(kTileKeys * padded), std::numeric_limits<float>::quiet_NaN()) {
    for (Part* part : {&latent, &rope}) {
      part->q = Buffers::Random(heads * part->shape.width, type);
      part->kv = Buffers::Random((keys + 1) * part->shape.width, type);
      for (int k = 0; k < keys; ++k) part->rows.push_back(part->kv.data() + k * part->shape.width);
      part->query.resize(static_cast<size_t>(heads * part->shape.stride));
      for (int h = 0; h < heads; ++h) {
        const uint16_t* row = part->q.data() + h * part->shape.width;
        kernels.widen_rows(type, &row, 1, part->shape, part->query.data() + h * part->shape.stride);
      }
    }
  }

  struct Part {
    KeyPart shape;
    std::vector<uint16_t> q = {};
    std::vector<uint16_t> kv = {};
    std::vector<const uint16_t*> rows = {};
    std::vector<float> query = {};

    ScorePart For(bool wanted) const {
      return wanted ? ScorePart{query.data(), rows.data(), shape} : ScorePart{};
    }
  };

  void Score(const TileKernels& kernels, bool with_rope) {
    kernels.score_rows(type, latent.For(true), rope.For(with_rope), keys, {heads, padded},
                       scores.data());
  }

  // Relative to the sum of magnitudes.
  double ScoreError(bool with_rope, int key, int head) const {
    double exact = 0, size = 0;
    for (const Part* part : {&latent, &rope}) {
      if (part == &rope && !with_rope) continue;
      for (int d = 0; d < part->shape.width; ++d) {
        const double term = WidenExactly(type, part->q[head * part->shape.width + d]) *
                            WidenExactly(type, part->rows[static_cast<size_t>(key)][d]);
        exact += term;
        size += std::abs(term);
      }
    }
    return std::abs(scores[static_cast<size_t>(key * padded + head)] - exact) / size;
  }

  int heads;
  int keys;
  ElementType type;
  int padded;
  Part latent{kLatentPart};
  Part rope{kRopePart};
  std::vector<float> scores;
};

TEST_CASE("tile kernels: scores from rows, with and without a rotary part") {
  for (const TileKernels* kernels : AllKernels()) {
    CAPTURE(std::string(kernels->name));
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
      for (const int heads : {1, 2, 3, 7, 8, 13, 24}) {
        for (const int keys : {1, 13, 64}) {
          for (const bool with_rope : {false, true}) {
            CAPTURE(heads);
            CAPTURE(keys);
            RowBuffers b(*kernels, heads, keys, type);
            b.Score(*kernels, with_rope);
            double worst = 0;
            for (int k = 0; k < keys; ++k) {
              for (int h = 0; h < heads; ++h) {
                worst = std::max(worst, b.ScoreError(with_rope, k, h));
              }
              for (int h = heads; h < b.padded; ++h) {
                CHECK(std::isfinite(b.scores[static_cast<size_t>(k * b.padded + h)]));
              }
            }
            CHECK(worst < kSumTolerance);
          }
        }
      }
    }
  }
}

TEST_CASE("tile kernels: accumulate from rows, as stored") {
  for (const TileKernels* kernels : AllKernels()) {
    CAPTURE(std::string(kernels->name));
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
      for (const int heads : {1, 3, 8, 13}) {
        CAPTURE(heads);
        RowBuffers b(*kernels, heads, 37, type);
        for (size_t i = 0; i < b.scores.size(); ++i)
          b.scores[i] = 0.01f * static_cast<float>(i % 91);
        const std::vector<float> half(static_cast<size_t>(b.padded), 0.5f);
        std::vector<float> out(static_cast<size_t>(heads * kHeadDim), NAN);
        // Asking for a next tile, of fewer rows, changes nothing.
        const NextRows next{b.latent.rows.data(), b.rope.rows.data(), 5};
        for (const bool first : {true, false}) {
          kernels->accumulate_rows(type, b.scores.data(), b.latent.rows.data(), 37, heads, b.padded,
                                   half.data(), first, next, out.data());
        }
        const std::vector<float> one(static_cast<size_t>(heads), 1.0f);
        std::vector<uint16_t> stored(static_cast<size_t>(heads * kHeadDim));
        kernels->store(type, out.data(), one.data(), heads, stored.data());
        double worst = 0;
        for (int h = 0; h < heads; ++h) {
          for (int d = 0; d < kHeadDim; ++d) {
            double once = 0, size = 0;
            for (int k = 0; k < 37; ++k) {
              const double term =
                  static_cast<double>(b.scores[static_cast<size_t>(k * b.padded + h)]) *
                  WidenExactly(type, b.latent.kv[static_cast<size_t>(k * kHeadDim + d)]);
              once += term;
              size += std::abs(term);
            }
            const double found = WidenExactly(type, stored[static_cast<size_t>(h * kHeadDim + d)]);
            worst = std::max(worst, std::abs(found - 1.5 * once) / size);
          }
        }
        // Half a unit in the last place of bfloat16 (float16 has more bits), twice.
        CHECK(worst < 0x1p-8);
      }
    }
  }
}

TEST_CASE("tile kernels: the bits of a score from rows do not depend on neighbours") {
  for (const TileKernels* kernels : AllKernels()) {
    CAPTURE(std::string(kernels->name));
    RowBuffers all(*kernels, 13, 64, ElementType::kBfloat16);
    all.Score(*kernels, true);
    for (const int heads : {1, 3, 6, 8}) {
      for (const int keys : {1, 7, 64}) {
        RowBuffers few(*kernels, heads, keys, ElementType::kBfloat16);
        few.latent = all.latent;
        few.rope = all.rope;
        few.Score(*kernels, true);
        bool same = true;
        for (int k = 0; k < keys; ++k) {
          const auto* one = few.scores.data() + k * few.padded;
          same = same && std::equal(one, one + heads, all.scores.data() + k * all.padded);
        }
        CAPTURE(heads);
        CAPTURE(keys);
        CHECK(same);
      }
    }
  }
}

}  // namespace
}  // namespace sfmla
