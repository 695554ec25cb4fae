// SPDX-License-Identifier: Apache-2.0
// Functions of two tensors, and the contract that all vector instructions share.
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::BinaryRepeatParams;

TEST_CASE_TEMPLATE("count forms", T, float, half, int16_t, int32_t) {
  const std::vector<T> a = Randoms<T>(77, 64.0f, 1);
  const std::vector<T> b = Randoms<T>(77, 64.0f, 2);
  std::vector<T> sums, differences, products, largest, smallest;
  RunOnVector([&] {
    const auto x = Ub<T>(0, 128);
    const auto y = Ub<T>(1024, 128);
    const auto run = [&](auto function) {
      const auto out = Ub<T>(2048, 77);
      function(out, x, y, 77, SourceLocation::current());
      return Take(out);
    };
    Put(x, a);
    Put(y, b);
    using Form = void (*)(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<T>&,
                          const int32_t&, const SourceLocation&);
    sums = run(static_cast<Form>(AscendC::Add<T>));
    differences = run(static_cast<Form>(AscendC::Sub<T>));
    products = run(static_cast<Form>(AscendC::Mul<T>));
    largest = run(static_cast<Form>(AscendC::Max<T>));
    smallest = run(static_cast<Form>(AscendC::Min<T>));
  });
  for (int i = 0; i < 77; ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    // Exact in all types but half, where T() rounds the exact result once.
    CHECK(SameBits(sums[i], T(static_cast<float>(x + y))));
    CHECK(SameBits(differences[i], T(static_cast<float>(x - y))));
    CHECK(SameBits(products[i], T(static_cast<float>(x * y))));
    CHECK(static_cast<double>(largest[i]) == std::max(x, y));
    CHECK(static_cast<double>(smallest[i]) == std::min(x, y));
  }
}

TEST_CASE("division, infinities and NaN") {
  std::vector<float> quotients, largest;
  RunOnVector([&] {
    Put(Ub<float>(0, 8), {1.0f, -1.0f, 0.0f, 10.0f, NAN});
    Put(Ub<float>(32, 8), {3.0f, 0.0f, 0.0f, INFINITY, 1.0f});
    AscendC::Div(Ub<float>(64, 8), Ub<float>(0, 8), Ub<float>(32, 8), 5);
    AscendC::Max(Ub<float>(96, 8), Ub<float>(32, 8), Ub<float>(0, 8), 5);
    quotients = Take(Ub<float>(64, 8));
    largest = Take(Ub<float>(96, 8));
  });
  CHECK(quotients[0] == 1.0f / 3.0f);
  CHECK(quotients[1] == -INFINITY);
  CHECK(std::isnan(quotients[2]));
  CHECK(quotients[3] == 0.0f);
  CHECK(std::isnan(largest[4]));
}

TEST_CASE("one value per row, as after Brcb: src1 block stride 0 and repeat stride 1") {
  const std::vector<float> rows = Randoms<float>(4 * 64, 8.0f, 1);
  std::vector<float> factors;
  for (int row = 0; row < 4; ++row) factors.insert(factors.end(), 8, row + 2.0f);
  std::vector<float> found;
  RunOnVector([&] {
    Put(Ub<float>(0, 256), rows);
    Put(Ub<float>(1024, 32), factors);
    AscendC::Mul(Ub<float>(2048, 256), Ub<float>(0, 256), Ub<float>(1024, 32), uint64_t{64}, 4,
                 BinaryRepeatParams{1, 1, 0, 8, 8, 1});
    found = Take(Ub<float>(2048, 256));
  });
  for (int row = 0; row < 4; ++row) {
    for (int i = 0; i < 64; ++i) {
      CHECK(found[row * 64 + i] == rows[row * 64 + i] * (row + 2.0f));
    }
  }
}

TEST_CASE("accumulation over repeats: dst is src1 with repeat stride 0") {
  const std::vector<float> rows = Randoms<float>(5 * 64, 8.0f, 1);
  std::vector<float> found;
  RunOnVector([&] {
    Put(Ub<float>(0, 320), rows);
    Put(Ub<float>(2048, 64), std::vector<float>(64, 0.0f));
    AscendC::Add(Ub<float>(2048, 64), Ub<float>(0, 320), Ub<float>(2048, 64), uint64_t{64}, 5,
                 BinaryRepeatParams{1, 1, 1, 0, 8, 0});
    found = Take(Ub<float>(2048, 64));
  });
  for (int i = 0; i < 64; ++i) {
    float sum = 0;
    for (int row = 0; row < 5; ++row) sum += rows[row * 64 + i];
    CHECK(found[i] == sum);
  }
}

TEST_CASE("in place") {
  std::vector<half> found;
  const std::vector<half> values = Counting<half>(300);
  RunOnVector([&] {
    Put(Ub<half>(0, 304), values);
    AscendC::Add(Ub<half>(0, 304), Ub<half>(0, 304), Ub<half>(0, 304), 300);
    found = Take(Ub<half>(0, 304));
  });
  for (int i = 0; i < 300; ++i) CHECK(static_cast<float>(found[i]) == 2.0f * i);
}

// The contract. `full` is a legal call's ending.
void AddFloats(const LocalTensor<float>& dst, const LocalTensor<float>& src0,
               const LocalTensor<float>& src1, uint64_t mask, int repeats,
               const BinaryRepeatParams& params) {
  Put(Ub<float>(0, 4096), std::vector<float>(4096, 1.0f));
  AscendC::Add(dst, src0, src1, mask, repeats, params);
}
constexpr uint32_t kAway = 16384;  // bytes; behind all sources

TEST_CASE("contract: operands") {
  const BinaryRepeatParams dense{1, 1, 1, 8, 8, 8};
  ExpectVectorFault("V Add", [&] {
    AddFloats(Ub<float>(kAway + 4, 64), Ub<float>(0, 64), Ub<float>(0, 64), 64, 1, dense);
  });
  ExpectVectorFault("dst: address 16388 in UB, must be a multiple of 32", [&] {
    AddFloats(Ub<float>(kAway + 4, 64), Ub<float>(0, 64), Ub<float>(0, 64), 64, 1, dense);
  });
  ExpectVectorFault("src1: bytes 0..512, the tensor has 256", [&] {
    AddFloats(Ub<float>(kAway, 128), Ub<float>(0, 128), Ub<float>(0, 64), 64, 2, dense);
  });
  ExpectVectorFault("src0: lies in L1, must lie in UB", [&] {
    AddFloats(Ub<float>(kAway, 64), LocalTensor<float>(TPosition::A1, 0, 64), Ub<float>(0, 64), 64,
              1, dense);
  });
  ExpectVectorFault("dst: dtype bfloat16_t, must be half or float or int16_t or int32_t", [&] {
    const auto x = Ub<bfloat16_t>(0, 64);
    AscendC::Add(Ub<bfloat16_t>(kAway, 64), x, x, 64);
  });
  ExpectVectorFault("dst: dtype int32_t, must be half or float", [&] {
    const auto x = Ub<int32_t>(0, 64);
    AscendC::Div(Ub<int32_t>(kAway, 64), x, x, 64);
  });
  ExpectVectorFault("src: reads 1 bytes of UB at 0, which nothing has written",
                    [&] { AscendC::Abs(Ub<float>(kAway, 64), Ub<float>(0, 64), 64); });
}

TEST_CASE("contract: masks and repeats") {
  const auto out = Ub<float>(kAway, 128);
  const BinaryRepeatParams dense{1, 1, 1, 8, 8, 8};
  const auto add = [&](uint64_t mask, int repeats) {
    AddFloats(out, Ub<float>(0, 128), Ub<float>(0, 128), mask, repeats, dense);
  };
  ExpectVectorFault("mask: 65, must be 1..64", [&] { add(65, 1); });
  ExpectVectorFault("mask: 0, must be 1..64", [&] { add(0, 1); });
  ExpectVectorFault("value 256 does not fit the 8-bit field", [&] { add(64, 256); });
  ExpectVectorFault("value 300 does not fit the 8-bit field", [&] {
    AddFloats(out, Ub<float>(0, 128), Ub<float>(0, 128), 64, 1, {1, 1, 1, 300, 8, 8});
  });
  ExpectVectorFault("mask[1]: 1, must be 0 for 32-bit elements", [&] {
    const uint64_t bits[2] = {1, 1};
    AscendC::Duplicate(out, 1.0f, bits, 1, 1, 8);
  });
  ExpectVectorFault("mask: no bit is set", [&] {
    const uint64_t bits[2] = {0, 0};
    AscendC::Duplicate(out, 1.0f, bits, 1, 1, 8);
  });
  ExpectVectorFault("mask[1]: 1, must be 0 for 32-bit elements", [&] {
    AscendC::SetVectorMask<half>(1, 1);
    AscendC::Duplicate<float, false>(out, 1.0f, AscendC::MASK_PLACEHOLDER, 1, 1, 8);
  });
  ExpectVectorFault("count: -1, must be 0 or more", [&] { AscendC::Duplicate(out, 1.0f, -1); });
  ExpectVectorFault("dstBlkStride: 0, must be 1 or more", [&] {
    AddFloats(out, Ub<float>(0, 128), Ub<float>(0, 128), 64, 1, {0, 1, 1, 8, 8, 8});
  });
}

TEST_CASE("contract: overlap") {
  const auto at = [](uint32_t address) { return Ub<float>(address, 1024); };
  ExpectVectorFault("dst: shares bytes with src0 in repeat 0, must be the same bytes or none",
                    [&] { AddFloats(at(32), at(0), at(8192), 64, 1, {1, 1, 1, 8, 8, 8}); });
  ExpectVectorFault("dst: repeat 0 writes what repeat 1 reads as src0, must not",
                    [&] { AddFloats(at(256), at(0), at(8192), 64, 2, {1, 1, 1, 8, 8, 8}); });
  ExpectVectorFault("as src0, must not", [&] {  // only src1 may be accumulated into
    AddFloats(at(0), at(0), at(8192), 64, 2, {1, 1, 1, 0, 0, 8});
  });
  ExpectVectorFault("as src1, must not", [&] {  // and not by Div
    Put(at(0), std::vector<float>(1024, 1.0f));
    AscendC::Div(at(0), at(2048), at(0), uint64_t{64}, 2, BinaryRepeatParams{1, 1, 1, 0, 8, 0});
  });
  // Interleaved rows share no byte though their spans overlap; dst behind the source reads is fine.
  RunOnVector([&] { AddFloats(at(128), at(0), at(8192), 32, 4, {1, 1, 1, 8, 8, 8}); });
  RunOnVector([&] { AddFloats(at(0), at(256), at(8192), 64, 2, {1, 1, 1, 8, 8, 8}); });
}

}  // namespace
}  // namespace sfmla::sim::test
