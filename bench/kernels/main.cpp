// SPDX-License-Identifier: Apache-2.0
// sfmla_kernel_bench [heads [keys]]: where the time of one query row goes, by phase, for every
// instruction set that runs here. One thread, operands in its caches, nothing of the operators
// around. A table in Markdown; docs/performance.md says what was found.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "clock.h"
#include "op_kernel/arch/cpu/tile_kernels.h"

namespace sfmla::bench {
namespace {

constexpr char kUsage[] =
    "usage: sfmla_kernel_bench [heads [keys]]\n"
    "  heads  of the query row [64]\n"
    "  keys   that it attends to [640]\n"
    "Prints, for every instruction set that runs here, what part of the float32 peak a row\n"
    "reaches and where its time goes.\n";
constexpr int kRounds = 50;
constexpr int64_t kPeakSteps = 1 << 14;

enum Phase { kQuery, kScore, kSoftmax, kAccumulate, kStore, kPhases };
using Seconds = std::array<double, kPhases>;

double Sum(const Seconds& seconds) {
  double sum = 0;
  for (const double one : seconds) sum += one;
  return sum;
}

// A row of `heads` queries and `keys` keys, and all that the products want of a thread.
class Row {
 public:
  Row(const TileKernels& kernels, ElementType type, int heads, int keys)
      : kernels_(kernels),
        type_(type),
        products_(kernels.Products(type).For(heads)),
        heads_{heads, PadHeads(heads, kernels.head_alignment)},
        q_(Numbers(heads)),
        kv_(Numbers(keys)),
        result_(q_.size()) {
    for (int key = 0; key < keys; ++key) rows_.push_back(kv_.data() + key * kHeadDim);
    // Like those of a list, rows are not taken in the order of their addresses.
    std::shuffle(rows_.begin(), rows_.end(), std::mt19937(1));
  }

  Seconds Run() {
    Seconds out{};
    const auto timed = [&](Phase phase, const auto& work) {
      const double start = ThreadSeconds();
      work();
      out[phase] += ThreadSeconds() - start;
    };
    std::fill(max_.begin(), max_.end(), kLowestScore);
    std::fill(sum_.begin(), sum_.end(), 0.0f);
    timed(kQuery, [&] { products_.prepare_query(q_.data(), heads_, kLatentPart, query_.data()); });
    const int keys = static_cast<int>(rows_.size());
    for (int begin = 0; begin < keys; begin += products_.tile_keys) {
      const int count = std::min(products_.tile_keys, keys - begin);
      timed(kScore, [&] { Score(begin, count); });
      timed(kSoftmax, [&] {
        kernels_.softmax(scores_.data(), count, heads_.padded_heads, 0.04f,
                         {max_.data(), sum_.data(), rescale_.data()});
      });
      timed(kAccumulate, [&] { Accumulate(begin, count); });
    }
    timed(kStore,
          [&] { kernels_.store(type_, out_.data(), sum_.data(), heads_.heads, result_.data()); });
    return out;
  }

 private:
  static size_t Size(int64_t count) { return static_cast<size_t>(count); }

  // Of magnitude 1/2 to 1 in either type.
  std::vector<uint16_t> Numbers(int rows) const {
    std::mt19937 random(static_cast<uint32_t>(rows));
    std::vector<uint16_t> out(Size(rows * kHeadDim));
    const uint32_t half = type_ == ElementType::kBfloat16 ? 0x3F00 : 0x3800;
    for (uint16_t& number : out) number = static_cast<uint16_t>(half | (random() & 0x807F));
    return out;
  }

  void Score(int begin, int count) {
    ScoreCall call;
    call.latent = {query_.data(), rows_.data() + begin, kLatentPart};
    call.keys = count;
    call.heads = heads_;
    call.tile.latent = tile_.data();
    call.scores = scores_.data();
    products_.score(call);
  }

  void Accumulate(int begin, int count) {
    AccumulateCall call;
    call.scores = scores_.data();
    call.values = rows_.data() + begin;
    call.values_are_keys = true;
    call.keys = count;
    call.heads = heads_;
    call.rescale = rescale_.data();
    call.first = begin == 0;
    call.tile.latent = tile_.data();
    call.out = out_.data();
    products_.accumulate(call);
  }

  const TileKernels& kernels_;
  const ElementType type_;
  const TileProducts& products_;
  const HeadCount heads_;
  const std::vector<uint16_t> q_, kv_;
  std::vector<uint16_t> result_;
  std::vector<const uint16_t*> rows_;
  std::vector<float> query_ =
      std::vector<float>(Size(QueryFloats(heads_.padded_heads, kLatentPart)));
  std::vector<float> tile_ = std::vector<float>(Size(kWidenedKeys * kLatentPart.stride));
  std::vector<float> scores_ = std::vector<float>(Size(kMaxTileKeys * heads_.padded_heads));
  std::vector<float> out_ = std::vector<float>(Size(heads_.heads * kHeadDim));
  std::vector<float> max_ = std::vector<float>(Size(heads_.padded_heads));
  std::vector<float> sum_ = max_, rescale_ = max_;
};

// One line: of peak for the two products and for all, and the shares of the phases. The fastest
// round counts: other processes only add to the others.
void Measure(const TileKernels& kernels, ElementType type, int heads, int keys) {
  Row row(kernels, type, heads, keys);
  Seconds best = row.Run();
  double peak = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = ThreadSeconds();
    const auto operations = static_cast<double>(kernels.peak(kPeakSteps));
    peak = std::max(peak, operations / (ThreadSeconds() - start));
    const Seconds seconds = row.Run();
    if (Sum(seconds) < Sum(best)) best = seconds;
  }
  const double product = 2.0 * heads * keys * kHeadDim / peak;  // seconds at the peak
  std::printf("| %s | %s | %.3f | %.3f | %.3f |", kernels.name,
              type == ElementType::kBfloat16 ? "bfloat16" : "float16", product / best[kScore],
              product / best[kAccumulate], 2 * product / Sum(best));
  for (const double seconds : best) std::printf(" %.1f |", 100 * seconds / Sum(best));
  std::printf("\n");
}

int Positive(const char* name, const char* text) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  constexpr int kMost = 1 << 20;
  if (*end == '\0' && value >= 1 && value <= kMost) return static_cast<int>(value);
  std::fprintf(stderr, "%s: '%s', must be an integer in [1, %d]\n", name, text, kMost);
  std::exit(2);
}

}  // namespace
}  // namespace sfmla::bench

int main(int count, char** arguments) {
  using namespace sfmla;
  for (int index = 1; index < count; ++index) {
    const std::string_view word = arguments[index];
    if (word == "-h" || word == "--help") {
      std::printf("%s", bench::kUsage);
      return 0;
    }
  }
  const int heads = count > 1 ? bench::Positive("heads", arguments[1]) : 64;
  const int keys = count > 2 ? bench::Positive("keys", arguments[2]) : 640;
  std::printf("%d heads, %d keys; of the float32 peak, then shares in %%\n\n", heads, keys);
  std::printf(
      "| set | type | scores | outputs | row | query | score | softmax | output | store |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const TileKernels* kernels : UsableTileKernels()) {
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16}) {
      bench::Measure(*kernels, type, heads, keys);
    }
  }
}
