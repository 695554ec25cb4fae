// SPDX-License-Identifier: Apache-2.0
#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::BrcbRepeatParams;

TEST_CASE_TEMPLATE("Brcb: element i fills block i", T, float, half, bfloat16_t, int32_t) {
  constexpr int kPerBlock = 32 / static_cast<int>(sizeof(T));
  const std::vector<T> src = Randoms<T>(24, 64.0f);
  std::vector<T> found;
  RunOnVector([&] {
    Put(Ub<T>(0, 24), src);
    AscendC::Brcb(Ub<T>(1024, 24 * kPerBlock), Ub<T>(0, 24), 3, BrcbRepeatParams{1, 8});
    found = Take(Ub<T>(1024, 24 * kPerBlock));
  });
  for (int i = 0; i < 24 * kPerBlock; ++i) CHECK(SameBits(found[i], src[i / kPerBlock]));
}

TEST_CASE("strides, and a block stride of 0 that means 1") {
  const std::vector<float> src = Counting<float>(16);
  std::vector<float> wide, dense;
  RunOnVector([&] {
    Put(Ub<float>(0, 16), src);
    AscendC::Brcb(Ub<float>(1024, 384), Ub<float>(0, 16), 2, BrcbRepeatParams{3, 24});
    AscendC::Brcb(Ub<float>(8192, 64), Ub<float>(0, 16), 1, BrcbRepeatParams{0, 8});
    wide = Take(Ub<float>(1024, 384));
    dense = Take(Ub<float>(8192, 64));
  });
  for (int i = 0; i < 384; ++i) {
    const int block = i / 8;
    CHECK(SameBits(wide[i], block % 3 == 0 ? src[block / 3] : Poison<float>()));
  }
  for (int i = 0; i < 64; ++i) CHECK(dense[i] == src[i / 8]);
}

TEST_CASE("elements nobody wrote may be read over, and stay unwritten") {
  bool row = false, behind = true;
  RunOnVector([&] {
    Put(Ub<float>(0, 5), Counting<float>(5));
    AscendC::Brcb(Ub<float>(1024, 64), Ub<float>(0, 8), 1, BrcbRepeatParams{1, 8});
    Take(Ub<float>(1024, 64));
    row = WasWritten(Ub<float>(1024, 64), 4 * 8);
    behind = WasWritten(Ub<float>(1024, 64), 5 * 8);
  });
  CHECK(row);
  CHECK(!behind);
}

TEST_CASE("contract") {
  const BrcbRepeatParams dense{1, 8};
  ExpectVectorFault("src0: address 4 in UB, must be a multiple of 32",
                    [&] { AscendC::Brcb(Ub<float>(1024, 64), Ub<float>(4, 8), 1, dense); });
  ExpectVectorFault("src0: bytes 0..32, the tensor has 20",
                    [&] { AscendC::Brcb(Ub<float>(1024, 64), Ub<float>(0, 5), 1, dense); });
  ExpectVectorFault("dst: bytes 0..256, the tensor has 128",
                    [&] { AscendC::Brcb(Ub<float>(1024, 32), Ub<float>(0, 8), 1, dense); });
  ExpectVectorFault("dst: shares bytes with src0, must not",
                    [&] { AscendC::Brcb(Ub<float>(0, 64), Ub<float>(0, 8), 1, dense); });
  ExpectVectorFault("dst: lies in L1, must lie in UB", [&] {
    AscendC::Brcb(LocalTensor<float>(TPosition::A1, 0, 64), Ub<float>(0, 8), 1, dense);
  });
  ExpectVectorFault("value 256 does not fit the 8-bit field",
                    [&] { AscendC::Brcb(Ub<float>(1024, 64), Ub<float>(0, 8), 256, dense); });
  ExpectVectorFault("dst: dtype int8_t, must be",
                    [&] { AscendC::Brcb(Ub<int8_t>(1024, 64), Ub<int8_t>(0, 8), 1, dense); });
}

}  // namespace
}  // namespace sfmla::sim::test
