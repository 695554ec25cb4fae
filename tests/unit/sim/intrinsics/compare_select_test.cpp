// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::BinaryRepeatParams;
using AscendC::CMPMODE;
using AscendC::SELMODE;
using AscendC::UnaryRepeatParams;

bool Bit(const std::vector<uint8_t>& bits, int i) { return (bits[i / 8] >> i % 8 & 1) != 0; }

bool ByMode(float a, float b, CMPMODE mode) {
  const bool results[] = {a<b, a> b, a == b, a <= b, a >= b, a != b};
  return results[static_cast<int>(mode)];
}

TEST_CASE_TEMPLATE("Compare and Compares: one bit per element, all modes", T, float, half) {
  constexpr int kCount = 2 * 256 / static_cast<int>(sizeof(T));
  std::vector<T> a = Randoms<T>(kCount, 4.0f, 1);
  std::vector<T> b = Randoms<T>(kCount, 4.0f, 2);
  b[3] = a[3];
  a[5] = T(NAN);
  for (int mode = 0; mode < 6; ++mode) {
    const auto cmp = static_cast<CMPMODE>(mode);
    std::vector<uint8_t> tensors, scalar;
    RunOnVector([&] {
      const auto x = Ub<T>(0, kCount);
      const auto y = Ub<T>(1024, kCount);
      Put(x, a);
      Put(y, b);
      AscendC::Compare(Ub<uint8_t>(2048, 64), x, y, cmp, kCount);
      AscendC::Compares(Ub<uint8_t>(2112, 64), x, T(0.5f), cmp, kCount);
      tensors = Take(Ub<uint8_t>(2048, 64));
      scalar = Take(Ub<uint8_t>(2112, 64));
    });
    for (int i = 0; i < kCount; ++i) {
      const auto x = static_cast<float>(a[i]);
      CHECK(Bit(tensors, i) == ByMode(x, static_cast<float>(b[i]), cmp));
      CHECK(Bit(scalar, i) == ByMode(x, 0.5f, cmp));
    }
    if (kCount / 8 < 64) CHECK(tensors[kCount / 8] == (kPoison & 0xFF));
  }
}

TEST_CASE("rounds with strides put their bits behind each other, whatever the mask") {
  const std::vector<float> a = Randoms<float>(256, 4.0f, 1);
  std::vector<uint8_t> found;
  RunOnVector([&] {
    Put(Ub<float>(0, 256), a);
    AscendC::CompareScalar(Ub<uint8_t>(2048, 32), Ub<float>(0, 256), 0.0f, CMPMODE::GT, uint64_t{3},
                           2, UnaryRepeatParams{1, 1, 8, 16});
    AscendC::Compare(Ub<uint8_t>(2080, 32), Ub<float>(0, 256), Ub<float>(0, 256), CMPMODE::LT,
                     uint64_t{64}, 1, BinaryRepeatParams{1, 1, 0, 8, 8, 8});
    found = Take(Ub<uint8_t>(2048, 64));
  });
  for (int i = 0; i < 128; ++i) CHECK(Bit(found, i) == (a[i / 64 * 128 + i % 64] > 0));
  for (int i = 0; i < 64; ++i) CHECK(Bit(found, 256 + i) == (a[i] < a[i % 8]));
}

TEST_CASE("int32_t compares for equality") {
  std::vector<uint8_t> found;
  RunOnVector([&] {
    Put(Ub<int32_t>(0, 64), Counting<int32_t>(64));
    AscendC::CompareScalar(Ub<uint8_t>(2048, 32), Ub<int32_t>(0, 64), 37, CMPMODE::EQ, 64);
    found = Take(Ub<uint8_t>(2048, 32));
  });
  for (int i = 0; i < 64; ++i) CHECK(Bit(found, i) == (i == 37));
}

TEST_CASE_TEMPLATE("Select: the three modes", T, float, half) {
  constexpr int kPerRound = 256 / static_cast<int>(sizeof(T));
  constexpr int kCount = 2 * kPerRound - 5;
  const std::vector<T> a = Randoms<T>(2 * kPerRound, 4.0f, 1);
  const std::vector<T> b = Randoms<T>(2 * kPerRound, 4.0f, 2);
  std::vector<uint8_t> bits;
  for (int i = 0; i < 32; ++i) bits.push_back(static_cast<uint8_t>(i * 37 + 11));
  std::vector<T> per_round, per_element, with_scalar;
  RunOnVector([&] {
    const auto x = Ub<T>(0, 2 * kPerRound);
    const auto y = Ub<T>(1024, 2 * kPerRound);
    const auto mask = Ub<uint8_t>(2048, 32);
    const auto out = [&](int i) { return Ub<T>(4096 + 1024 * i, 2 * kPerRound); };
    Put(x, a);
    Put(y, b);
    Put(mask, bits);
    AscendC::Select(out(0), mask, x, y, SELMODE::VSEL_CMPMASK_SPR, kCount);
    AscendC::Select(out(1), mask, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, kCount);
    AscendC::Select(out(2), mask, x, T(-7.0f), SELMODE::VSEL_TENSOR_SCALAR_MODE, kCount);
    per_round = Take(out(0));
    per_element = Take(out(1));
    with_scalar = Take(out(2));
  });
  for (int i = 0; i < kCount; ++i) {
    CHECK(SameBits(per_round[i], Bit(bits, i % kPerRound) ? a[i] : b[i]));
    CHECK(SameBits(per_element[i], Bit(bits, i) ? a[i] : b[i]));
    CHECK(SameBits(with_scalar[i], Bit(bits, i) ? a[i] : T(-7.0f)));
  }
  CHECK(SameBits(per_element[kCount], Poison<T>()));
}

TEST_CASE("Select by rounds: the mask narrows what is written, strides apply") {
  const std::vector<float> a = Counting<float>(256);
  std::vector<float> found;
  RunOnVector([&] {
    Put(Ub<float>(0, 256), a);
    Put(Ub<float>(1024, 64), std::vector<float>(64, -1.0f));
    Put(Ub<uint8_t>(2048, 32), std::vector<uint8_t>(32, 0x0F));
    AscendC::Select(Ub<float>(4096, 128), Ub<uint8_t>(2048, 32), Ub<float>(0, 256),
                    Ub<float>(1024, 64), SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t{10}, 2,
                    BinaryRepeatParams{1, 1, 1, 8, 16, 0});
    found = Take(Ub<float>(4096, 128));
  });
  for (int i = 0; i < 128; ++i) {
    const int lane = i % 64;
    const float wanted = lane % 8 < 4 ? a[i / 64 * 128 + lane] : -1.0f;
    CHECK(SameBits(found[i], lane < 10 ? wanted : Poison<float>()));
  }
}

TEST_CASE("contract") {
  const auto bits = Ub<uint8_t>(2048, 32);
  const auto in = [] {
    Put(Ub<float>(0, 64), std::vector<float>(64, 1.0f));
    return Ub<float>(0, 64);
  };
  ExpectVectorFault("cmpMode: 0 with int32_t, must be EQ (2)",
                    [&] { AscendC::CompareScalar(bits, Ub<int32_t>(0, 64), 1, CMPMODE::LT, 64); });
  ExpectVectorFault("count: 252 bytes, must be a multiple of 256",
                    [&] { AscendC::Compares(bits, in(), 1.0f, CMPMODE::LT, 63); });
  ExpectVectorFault("dst: bytes 0..8, the tensor has 4",
                    [&] { AscendC::Compares(Ub<uint8_t>(2048, 4), in(), 1.0f, CMPMODE::LT, 64); });
  ExpectVectorFault("dst: shares bytes with src0, must not",
                    [&] { AscendC::Compares(Ub<uint8_t>(0, 32), in(), 1.0f, CMPMODE::LT, 64); });
  ExpectVectorFault("src0: dtype bfloat16_t, must be half or float or int32_t", [&] {
    AscendC::Compares(bits, Ub<bfloat16_t>(0, 128), bfloat16_t(1.0f), CMPMODE::LT, 128);
  });
  ExpectVectorFault("selMode: 1 with a tensor as src1, must be VSEL_CMPMASK_SPR (0) or", [&] {
    AscendC::Select(Ub<float>(4096, 64), bits, in(), in(), SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
  ExpectVectorFault("selMask: address 2049 in UB, must be a multiple of 32", [&] {
    AscendC::Select(Ub<float>(4096, 64), bits[1], in(), 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
  ExpectVectorFault("selMask: reads", [&] {
    AscendC::Select(Ub<float>(4096, 64), bits, in(), 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
  ExpectVectorFault("dst: dtype int32_t, must be half or float", [&] {
    AscendC::Select(Ub<int32_t>(4096, 64), bits, Ub<int32_t>(0, 64), 0,
                    SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
}

}  // namespace
}  // namespace sfmla::sim::test
