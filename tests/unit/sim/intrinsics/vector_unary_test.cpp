// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor: each form against a loop over rounds, blocks and elements.
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::UnaryRepeatParams;

// Elements of `before` that the rounds of a mask call replace: bit e of the mask is element e % C
// of block e / C of a round.
template <typename T>
std::vector<T> ByRounds(std::vector<T> before, const std::vector<T>& src, int repeats,
                        const std::vector<bool>& mask, int dst_block, int src_block, int dst_repeat,
                        int src_repeat, const std::function<float(float)>& f) {
  constexpr int kPerBlock = 32 / static_cast<int>(sizeof(T));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int block = 0; block < 8; ++block) {
      for (int i = 0; i < kPerBlock; ++i) {
        if (!mask[block * kPerBlock + i]) continue;
        const int to = (repeat * dst_repeat + block * dst_block) * kPerBlock + i;
        const int from = (repeat * src_repeat + block * src_block) * kPerBlock + i;
        before[to] = T(f(static_cast<float>(src[from])));
      }
    }
  }
  return before;
}

std::vector<bool> FirstLanes(int count, int all) {
  std::vector<bool> mask(all);
  for (int i = 0; i < count; ++i) mask[i] = true;
  return mask;
}

template <typename T>
using UnaryCount = void (*)(const LocalTensor<T>&, const LocalTensor<T>&, const int32_t&,
                            const SourceLocation&);

template <typename T>
void CheckFunction(UnaryCount<T> function, const std::function<float(float)>& f) {
  const std::vector<T> src = {T(0.25f), T(1.0f), T(2.5f), T(100.0f), T(0.0f), T(INFINITY), T(7.0f)};
  std::vector<T> found;
  RunOnVector([&] {
    const auto in = Ub<T>(0, 64);
    const auto out = Ub<T>(256, 64);
    Put(in, src);
    function(out, in, static_cast<int32_t>(src.size()), SourceLocation::current());
    found = Take(out);
  });
  for (size_t i = 0; i < src.size(); ++i) {
    CHECK(SameBits(found[i], T(f(static_cast<float>(src[i])))));
  }
  // A count form writes not one element more.
  CHECK(SameBits(found[src.size()], Poison<T>()));
}

TEST_CASE_TEMPLATE("functions of float32, half rounded once", T, float, half) {
  CheckFunction<T>(AscendC::Exp<T>, [](float x) { return std::exp(x); });
  CheckFunction<T>(AscendC::Ln<T>, [](float x) { return std::log(x); });
  CheckFunction<T>(AscendC::Sqrt<T>, [](float x) { return std::sqrt(x); });
  CheckFunction<T>(AscendC::Rsqrt<T>, [](float x) { return 1.0f / std::sqrt(x); });
  CheckFunction<T>(AscendC::Reciprocal<T>, [](float x) { return 1.0f / x; });
  CheckFunction<T>(AscendC::Abs<T>, [](float x) { return std::fabs(x); });
  CheckFunction<T>(AscendC::Relu<T>, [](float x) { return x > 0 ? x : 0; });
}

TEST_CASE("signs and NaN") {
  const std::vector<float> src = {-2.0f, -0.0f, NAN, -INFINITY, -1.0f};
  std::vector<float> absolute, relu, logarithm;
  RunOnVector([&] {
    const auto in = Ub<float>(0, 8);
    Put(in, src);
    AscendC::Abs(Ub<float>(32, 8), in, 5);
    AscendC::Relu(Ub<float>(64, 8), in, 5);
    AscendC::Ln(Ub<float>(96, 8), in, 5);
    absolute = Take(Ub<float>(32, 8));
    relu = Take(Ub<float>(64, 8));
    logarithm = Take(Ub<float>(96, 8));
  });
  CHECK(absolute[0] == 2.0f);
  CHECK(!std::signbit(absolute[1]));
  CHECK(std::isnan(absolute[2]));
  CHECK(absolute[3] == INFINITY);
  CHECK(relu[0] == 0.0f);
  CHECK(std::isnan(relu[2]));
  CHECK(std::isnan(logarithm[0]));
  CHECK(logarithm[1] == -INFINITY);
}

TEST_CASE_TEMPLATE("leading mask, strides and repeats", T, float, half) {
  constexpr int kPerRound = 256 / static_cast<int>(sizeof(T));
  const std::vector<T> src = Randoms<T>(40 * kPerRound / 8, 4.0f);
  for (const int lanes : {1, kPerRound / 8 + 3, kPerRound - 1, kPerRound}) {
    std::vector<T> found;
    const std::vector<T> before(60 * kPerRound / 8, T(-9.0f));
    RunOnVector([&] {
      const auto in = Ub<T>(0, static_cast<uint32_t>(src.size()));
      const auto out = Ub<T>(4096, static_cast<uint32_t>(before.size()));
      Put(in, src);
      Put(out, before);
      AscendC::Abs(out, in, static_cast<uint64_t>(lanes), 3, UnaryRepeatParams{2, 1, 18, 9});
      found = Take(out);
    });
    CheckSameBits(found, ByRounds<T>(before, src, 3, FirstLanes(lanes, kPerRound), 2, 1, 18, 9,
                                     [](float x) { return std::fabs(x); }));
  }
}

TEST_CASE("a bit mask leaves the elements without a bit alone") {
  const std::vector<half> src = Randoms<half>(256, 4.0f);
  const std::vector<half> before(256, half(-9.0f));
  const uint64_t bits[2] = {0x8000'0000'0000'F0F1u, 0x0123'0000'0000'0001u};
  std::vector<bool> mask(128);
  for (int i = 0; i < 128; ++i) mask[i] = (bits[i / 64] >> i % 64 & 1) != 0;
  std::vector<half> found;
  RunOnVector([&] {
    Put(Ub<half>(0, 256), src);
    Put(Ub<half>(1024, 256), before);
    AscendC::Muls(Ub<half>(1024, 256), Ub<half>(0, 256), half(2.0f), bits, 2,
                  UnaryRepeatParams{1, 1, 8, 8});
    found = Take(Ub<half>(1024, 256));
  });
  CheckSameBits(found,
                ByRounds<half>(before, src, 2, mask, 1, 1, 8, 8, [](float x) { return 2.0f * x; }));
}

TEST_CASE("a source block stride of 0 repeats one block, a repeat stride of 0 one round") {
  const std::vector<float> src = Randoms<float>(64, 4.0f);
  std::vector<float> found;
  RunOnVector([&] {
    Put(Ub<float>(0, 64), src);
    AscendC::Adds(Ub<float>(1024, 128), Ub<float>(0, 64), 1.0f, uint64_t{64}, 2,
                  UnaryRepeatParams{1, 0, 8, 1});
    found = Take(Ub<float>(1024, 128));
  });
  for (int i = 0; i < 128; ++i) CHECK(found[i] == src[i / 64 * 8 + i % 8] + 1.0f);
}

TEST_CASE("scalars: arithmetic of each type") {
  std::vector<int32_t> sums, products;
  std::vector<float> largest, smallest;
  std::vector<half> halves;
  RunOnVector([&] {
    Put(Ub<int32_t>(0, 8), {1, -2, INT32_MAX, 7});
    Put(Ub<float>(32, 8), {1.0f, -2.0f, NAN, 7.0f});
    Put(Ub<half>(64, 16), {half(1.0f), half(2049.0f), half(60000.0f)});
    AscendC::Adds(Ub<int32_t>(96, 8), Ub<int32_t>(0, 8), 1, 4);
    AscendC::Muls(Ub<int32_t>(128, 8), Ub<int32_t>(0, 8), -3, 2);
    AscendC::Maxs(Ub<float>(160, 8), Ub<float>(32, 8), 0.5f, 4);
    AscendC::Mins(Ub<float>(192, 8), Ub<float>(32, 8), 0.5f, 4);
    AscendC::Muls(Ub<half>(224, 16), Ub<half>(64, 16), half(1.5f), 3);
    sums = Take(Ub<int32_t>(96, 8));
    products = Take(Ub<int32_t>(128, 8));
    largest = Take(Ub<float>(160, 8));
    smallest = Take(Ub<float>(192, 8));
    halves = Take(Ub<half>(224, 16));
  });
  CHECK(sums[0] == 2);
  CHECK(sums[2] == INT32_MIN);
  CHECK(products[1] == 6);
  CHECK(largest[1] == 0.5f);
  CHECK(std::isnan(largest[2]));
  CHECK(smallest[3] == 0.5f);
  CHECK(std::isnan(smallest[2]));
  CHECK(static_cast<float>(halves[0]) == 1.5f);
  // 2049 is 2048 as a half; 60000 * 1.5 is past its range.
  CHECK(static_cast<float>(halves[1]) == 3072.0f);
  CHECK(static_cast<float>(halves[2]) == INFINITY);
}

TEST_CASE("Duplicate: forms, types and strides") {
  std::vector<float> masked, counted;
  std::vector<bfloat16_t> brains;
  std::vector<uint32_t> words;
  RunOnVector([&] {
    const uint64_t bits[2] = {0b101, 0};
    Put(Ub<float>(0, 256), std::vector<float>(256, 1.0f));
    AscendC::Duplicate(Ub<float>(0, 256), -2e38f, bits, 2, 1, 16);
    AscendC::Duplicate(Ub<float>(1024, 64), 3.0f, 13);
    AscendC::Duplicate(Ub<bfloat16_t>(2048, 64), bfloat16_t(1.5f), 64);
    AscendC::Duplicate(Ub<uint32_t>(3072, 64), 0xFFFFFFFFu, uint64_t{64}, 1, 1, 8);
    masked = Take(Ub<float>(0, 256));
    counted = Take(Ub<float>(1024, 64));
    brains = Take(Ub<bfloat16_t>(2048, 64));
    words = Take(Ub<uint32_t>(3072, 64));
  });
  for (int i = 0; i < 256; ++i) {
    const bool written = i == 0 || i == 2 || i == 128 || i == 130;
    CHECK(masked[i] == (written ? -2e38f : 1.0f));
  }
  CHECK(counted[12] == 3.0f);
  CHECK(SameBits(counted[13], Poison<float>()));
  CHECK(static_cast<float>(brains[63]) == 1.5f);
  CHECK(words[63] == 0xFFFFFFFFu);
}

TEST_CASE("the mask register: set outside, in counter mode, and restored by count forms") {
  std::vector<float> by_bits, by_count, after_count;
  RunOnVector([&] {
    const auto out = [](uint32_t address) { return Ub<float>(address, 192); };
    using AscendC::Duplicate;
    AscendC::SetVectorMask<float>(0, 0b11);
    Duplicate<float, false>(out(0), 1.0f, AscendC::MASK_PLACEHOLDER, 2, 1, 8);
    AscendC::SetMaskCount();
    AscendC::SetVectorMask<float, AscendC::MaskMode::COUNTER>(70);
    Duplicate<float, false>(out(1024), 1.0f, AscendC::MASK_PLACEHOLDER, 1, 1, 8);
    AscendC::SetMaskNorm();
    AscendC::SetVectorMask<float>(0, 0b11);
    Duplicate(out(3072), 2.0f, 1);
    Duplicate<float, false>(out(2048), 1.0f, AscendC::MASK_PLACEHOLDER, 1, 1, 8);
    by_bits = Take(out(0));
    by_count = Take(out(1024));
    after_count = Take(out(2048));
  });
  for (int i = 0; i < 192; ++i) {
    const auto is_one = [i](const std::vector<float>& values) { return values[i] == 1.0f; };
    CHECK(is_one(by_bits) == (i == 0 || i == 1 || i == 64 || i == 65));
    CHECK(is_one(by_count) == (i < 70));
    CHECK(is_one(after_count) == (i < 64));
  }
}

TEST_CASE("a repeat count of 0 does nothing") {
  std::vector<float> found;
  RunOnVector([&] {
    AscendC::Duplicate(Ub<float>(0, 8), 1.0f, uint64_t{8}, 0, 1, 8);
    found = Take(Ub<float>(0, 8));
  });
  CHECK(SameBits(found[0], Poison<float>()));
}

}  // namespace
}  // namespace sfmla::sim::test
