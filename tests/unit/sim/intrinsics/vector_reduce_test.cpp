// SPDX-License-Identifier: Apache-2.0
// Reductions against plain loops over rounds, blocks and pairs.
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::ReduceOrder;

// Neighbours first: the order that the documentation calls a binary tree.
template <typename T>
T Tree(const std::vector<T>& values, size_t begin, size_t count) {
  if (count == 1) return values[begin];
  return T(static_cast<float>(Tree(values, begin, count / 2)) +
           static_cast<float>(Tree(values, begin + count / 2, count / 2)));
}

TEST_CASE_TEMPLATE("sums of rounds, blocks and pairs are trees", T, float, half) {
  constexpr int kLanes = 256 / static_cast<int>(sizeof(T));
  constexpr int kPerBlock = 32 / static_cast<int>(sizeof(T));
  std::vector<T> src = Randoms<T>(3 * kLanes, 3.7f);
  src[1] = T(4096.0f);  // so that the order of additions shows
  src[kLanes + 5] = T(-3000.0f);
  std::vector<T> whole, blocks, pairs;
  RunOnVector([&] {
    const auto in = Ub<T>(0, 3 * kLanes);
    Put(in, src);
    AscendC::WholeReduceSum(Ub<T>(4096, 16), in, kLanes, 3, 1, 1, 8);
    AscendC::BlockReduceSum(Ub<T>(8192, 24), in, 3, kLanes, 1, 1, 8);
    AscendC::PairReduceSum(Ub<T>(12288, 3 * kLanes / 2), in, 3, kLanes, 1, 1, 8);
    whole = Take(Ub<T>(4096, 16));
    blocks = Take(Ub<T>(8192, 24));
    pairs = Take(Ub<T>(12288, 3 * kLanes / 2));
  });
  for (int i = 0; i < 3; ++i) CHECK(SameBits(whole[i], Tree(src, i * kLanes, kLanes)));
  for (int i = 0; i < 24; ++i) CHECK(SameBits(blocks[i], Tree(src, i * kPerBlock, kPerBlock)));
  for (int i = 0; i < 3 * kLanes / 2; ++i) CHECK(SameBits(pairs[i], Tree(src, 2 * i, 2)));
  CHECK(SameBits(whole[3], Poison<T>()));
}

TEST_CASE("extremes of rounds: strides, masks and the four orders") {
  const std::vector<float> src = Randoms<float>(16 * 64, 100.0f);
  std::vector<float> pairs, values, swapped;
  std::vector<uint32_t> indices;
  constexpr int kLanes = 50;
  RunOnVector([&] {
    const auto in = Ub<float>(0, 1024);
    Put(in, src);
    // Blocks 2 apart, rounds 17 apart, results 2 pairs apart.
    AscendC::WholeReduceMax(Ub<float>(8192, 16), in, kLanes, 3, 2, 2, 17);
    AscendC::WholeReduceMax(Ub<float>(8448, 8), in, kLanes, 3, 1, 2, 17,
                            ReduceOrder::ORDER_ONLY_VALUE);
    AscendC::WholeReduceMin(Ub<float>(8704, 8), in, kLanes, 3, 1, 2, 17,
                            ReduceOrder::ORDER_INDEX_VALUE);
    AscendC::WholeReduceMax(Ub<float>(8960, 8), in, kLanes, 3, 1, 2, 17,
                            ReduceOrder::ORDER_ONLY_INDEX);
    pairs = Take(Ub<float>(8192, 16));
    values = Take(Ub<float>(8448, 8));
    swapped = Take(Ub<float>(8704, 8));
    indices = Take(Ub<uint32_t>(8960, 8));
  });
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  for (int repeat = 0; repeat < 3; ++repeat) {
    uint32_t largest = 0, smallest = 0;
    const auto value = [&](uint32_t lane) {
      return src[repeat * 17 * 8 + lane / 8 * 16 + lane % 8];
    };
    for (uint32_t lane = 1; lane < kLanes; ++lane) {
      if (value(lane) > value(largest)) largest = lane;
      if (value(lane) < value(smallest)) smallest = lane;
    }
    CHECK(pairs[4 * repeat] == value(largest));
    CHECK(bits(pairs[4 * repeat + 1]) == largest);
    CHECK(SameBits(pairs[4 * repeat + 2], Poison<float>()));
    CHECK(values[repeat] == value(largest));
    CHECK(bits(swapped[2 * repeat]) == smallest);
    CHECK(swapped[2 * repeat + 1] == value(smallest));
    CHECK(indices[repeat] == largest);
  }
}

TEST_CASE("halves carry their index in 16 bits; blocks have no index; NaN wins, ties go first") {
  std::vector<half> src(128, half(1.0f));
  src[70] = half(5.0f);
  src[90] = half(5.0f);
  std::vector<float> nans(64, 1.0f);
  nans[3] = NAN;
  std::vector<half> whole, blocks;
  std::vector<float> from_nan;
  RunOnVector([&] {
    Put(Ub<half>(0, 128), src);
    Put(Ub<float>(512, 64), nans);
    AscendC::WholeReduceMax(Ub<half>(1024, 16), Ub<half>(0, 128), 128, 1, 1, 1, 8);
    AscendC::BlockReduceMax(Ub<half>(1056, 16), Ub<half>(0, 128), 1, 128, 1, 1, 8);
    AscendC::BlockReduceMin(Ub<float>(1088, 8), Ub<float>(512, 64), 1, 64, 1, 1, 8);
    whole = Take(Ub<half>(1024, 16));
    blocks = Take(Ub<half>(1056, 16));
    from_nan = Take(Ub<float>(1088, 8));
  });
  CHECK(static_cast<float>(whole[0]) == 5.0f);
  CHECK(whole[1].bits == 70);
  for (int block = 0; block < 8; ++block) {
    CHECK(static_cast<float>(blocks[block]) == (block == 4 || block == 5 ? 5.0f : 1.0f));
  }
  CHECK(std::isnan(from_nan[0]));
  CHECK(from_nan[1] == 1.0f);
}

TEST_CASE("masked elements take no part; what has no element is not defined") {
  const std::vector<float> src = Counting<float>(64);
  float sum = 0;
  std::vector<float> blocks;
  bool last_is_written = true;
  RunOnVector([&] {
    const uint64_t bits[2] = {0x00FF'0000'0000'0F05u, 0};
    Put(Ub<float>(0, 64), src);
    AscendC::WholeReduceSum(Ub<float>(1024, 8), Ub<float>(0, 64), bits, 1, 1, 1, 8);
    AscendC::BlockReduceSum(Ub<float>(1056, 8), Ub<float>(0, 64), 1, 32, 1, 1, 8);
    sum = Take(Ub<float>(1024, 8))[0];
    blocks = Take(Ub<float>(1056, 8));
    last_is_written = WasWritten(Ub<float>(1056, 8), 7);
  });
  CHECK(sum == 0.0f + 2 + 8 + 9 + 10 + 11 + 48 + 49 + 50 + 51 + 52 + 53 + 54 + 55);
  CHECK(blocks[3] == 24.0f + 25 + 26 + 27 + 28 + 29 + 30 + 31);
  CHECK(!last_is_written);
}

TEST_CASE("contract") {
  const auto in = [] {
    Put(Ub<float>(0, 256), std::vector<float>(256, 1.0f));
    return Ub<float>(0, 256);
  };
  const auto out = Ub<float>(4096, 4);
  ExpectVectorFault("repeatTime: 256, must be 0..255",
                    [&] { AscendC::WholeReduceSum(out, in(), 64, 256, 1, 1, 8); });
  ExpectVectorFault("srcRepStride: 65536, must be 0..65535",
                    [&] { AscendC::WholeReduceSum(out, in(), 64, 1, 1, 1, 65536); });
  ExpectVectorFault("mask: 65, must be 1..64",
                    [&] { AscendC::WholeReduceSum(out, in(), 65, 1, 1, 1, 8); });
  ExpectVectorFault("dst: address 4100 in UB, must be a multiple of 8",
                    [&] { AscendC::WholeReduceMax(out[1], in(), 64, 1, 1, 1, 8); });
  ExpectVectorFault("dst: address 4100 in UB, must be a multiple of 32",
                    [&] { AscendC::BlockReduceMax(out[1], in(), 1, 64, 1, 1, 8); });
  ExpectVectorFault("dst: bytes 0..20, the tensor has 16",
                    [&] { AscendC::WholeReduceSum(out, in(), 64, 2, 4, 1, 8); });
  ExpectVectorFault("src: bytes 0..1280, the tensor has 1024",
                    [&] { AscendC::WholeReduceSum(out, in(), 64, 5, 0, 1, 8); });
  ExpectVectorFault("dst: shares bytes with src, must not",
                    [&] { AscendC::WholeReduceSum(in(), in(), 64, 1, 1, 1, 8); });
  ExpectVectorFault("dst: dtype int32_t, must be half or float", [&] {
    AscendC::WholeReduceSum(Ub<int32_t>(4096, 4), Ub<int32_t>(0, 64), 64, 1, 1, 1, 8);
  });
}

}  // namespace
}  // namespace sfmla::sim::test
