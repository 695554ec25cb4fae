// SPDX-License-Identifier: Apache-2.0
// LoadData against the layouts: where each element of a matrix must end up.
#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::LoadData2DParams;
using AscendC::LoadData3DParamsV2;

template <typename T>
LocalTensor<T> L1(uint32_t address, uint32_t elements) {
  return LocalTensor<T>(TPosition::A1, address, elements);
}
template <typename T>
LocalTensor<T> L0a(uint32_t address, uint32_t elements) {
  return LocalTensor<T>(TPosition::A2, address, elements);
}
template <typename T>
LocalTensor<T> L0b(uint32_t address, uint32_t elements) {
  return LocalTensor<T>(TPosition::B2, address, elements);
}

// The parameters of a plain move of rows x columns from a matrix of 16 * height rows.
template <typename T>
LoadData3DParamsV2<T> Move(int height, int channels, int rows, int columns) {
  LoadData3DParamsV2<T> params;
  params.l1H = height;
  params.l1W = 16;
  params.channelSize = channels;
  params.mExtension = rows;
  params.kExtension = columns;
  return params;
}

TEST_CASE("2D: fractals by index, stride, gap and direction") {
  const std::vector<half> src = Counting<half>(10 * 256);
  std::vector<half> upward, downward, repeated;
  RunOnCube([&] {
    Put(L1<half>(0, 2560), src);
    LoadData2DParams params(2, 3, 2, 0, 1, false, 0);
    AscendC::LoadData(L0a<half>(0, 5 * 256), L1<half>(0, 2560), params);
    params.addrMode = 1;
    params.startIndex = 9;
    params.dstGap = 0;
    AscendC::LoadData(L0b<half>(0, 3 * 256), L1<half>(0, 2560), params);
    params.srcStride = 0;
    AscendC::LoadData(L0b<half>(8192, 3 * 256), L1<half>(0, 2560), params);
    upward = Take(L0a<half>(0, 5 * 256));
    downward = Take(L0b<half>(0, 3 * 256));
    repeated = Take(L0b<half>(8192, 3 * 256));
  });
  for (int fractal = 0; fractal < 3; ++fractal) {
    for (int i = 0; i < 256; ++i) {
      CHECK(SameBits(upward[fractal * 512 + i], src[(2 + 2 * fractal) * 256 + i]));
      CHECK(SameBits(downward[fractal * 256 + i], src[(9 - 2 * fractal) * 256 + i]));
      CHECK(SameBits(repeated[fractal * 256 + i], src[9 * 256 + i]));
    }
  }
  CHECK(SameBits(upward[256], Poison<half>()));
}

TEST_CASE("2D: an [N, K] matrix in Nz is [K, N] in Zn, with and without transposition") {
  constexpr int kN = 32, kK = 48;
  const auto nz = [](int row, int column) {
    return column / 16 * kN * 16 + row * 16 + column % 16;
  };
  std::vector<half> keys(kN * kK);
  for (int n = 0; n < kN; ++n) {
    for (int k = 0; k < kK; ++k) keys[nz(n, k)] = half(static_cast<float>(n * kK + k));
  }
  std::vector<half> plain, turned;
  RunOnCube([&] {
    Put(L1<half>(0, kN * kK), keys);
    LoadData2DParams params(0, kN / 16 * kK / 16, 1, 0, 0, false, 0);
    AscendC::LoadData(L0b<half>(0, kN * kK), L1<half>(0, kN * kK), params);
    params.ifTranspose = true;
    AscendC::LoadData(L0b<half>(8192, kN * kK), L1<half>(0, kN * kK), params);
    plain = Take(L0b<half>(0, kN * kK));
    turned = Take(L0b<half>(8192, kN * kK));
  });
  for (int n = 0; n < kN; ++n) {
    for (int k = 0; k < kK; ++k) {
      // Zn of B = [K, N]: fractals by blocks of k, then of n; inside, the 16 of k are contiguous.
      const int fractal = k / 16 * (kN / 16) + n / 16;
      CHECK(SameBits(plain[fractal * 256 + n % 16 * 16 + k % 16], keys[nz(n, k)]));
      CHECK(SameBits(turned[fractal * 256 + k % 16 * 16 + n % 16], keys[nz(n, k)]));
    }
  }
}

TEST_CASE_TEMPLATE("3D to L0A: Nz to Zz, any part", T, half, bfloat16_t, float) {
  constexpr int kC0 = 32 / static_cast<int>(sizeof(T));
  constexpr int kHeight = 4, kStored = kHeight * 16, kChannels = 6 * kC0;
  constexpr int kRows = 32, kColumns = 3 * kC0, kFirstRow = 16, kFirstColumn = 2 * kC0;
  const std::vector<T> src = Randoms<T>(kStored * kChannels, 64.0f);
  std::vector<T> found;
  RunOnCube([&] {
    Put(L1<T>(0, kStored * kChannels), src);
    auto params = Move<T>(kHeight, kChannels, kRows, kColumns);
    params.mStartPt = kFirstRow;
    params.kStartPt = kFirstColumn;
    AscendC::LoadData(L0a<T>(512, kRows * kColumns), L1<T>(0, kStored * kChannels), params);
    found = Take(L0a<T>(512, kRows * kColumns));
  });
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const int at = kFirstColumn + column;
      const T& wanted = src[at / kC0 * kStored * kC0 + (kFirstRow + row) * kC0 + at % kC0];
      const int fractal = row / 16 * 3 + column / kC0;
      CHECK(SameBits(found[fractal * 16 * kC0 + row % 16 * kC0 + column % kC0], wanted));
    }
  }
}

TEST_CASE("3D to L0B: [K, N] in Nz to Zn") {
  constexpr int kK = 48, kN = 32;
  const std::vector<half> src = Randoms<half>(kK * kN, 64.0f);
  std::vector<half> found;
  RunOnCube([&] {
    Put(L1<half>(0, kK * kN), src);
    AscendC::LoadData(L0b<half>(0, kK * kN), L1<half>(0, kK * kN), Move<half>(3, kN, kK, kN));
    found = Take(L0b<half>(0, kK * kN));
  });
  for (int k = 0; k < kK; ++k) {
    for (int n = 0; n < kN; ++n) {
      const int fractal = k / 16 * (kN / 16) + n / 16;
      CHECK(SameBits(found[fractal * 256 + n % 16 * 16 + k % 16],
                     src[n / 16 * kK * 16 + k * 16 + n % 16]));
    }
  }
}

TEST_CASE("3D: rows below the matrix are padding") {
  std::vector<half> found;
  bool written = false;
  RunOnCube([&] {
    Put(L1<half>(0, 256), Counting<half>(256));
    auto params = Move<half>(1, 16, 32, 16);
    params.padList[3] = 255;
    params.padValue = half(7.0f);
    AscendC::LoadData(L0a<half>(0, 512), L1<half>(0, 256), params);
    found = Take(L0a<half>(0, 512));
    written = WasWritten(L0a<half>(0, 512), 511);
  });
  for (int i = 0; i < 512; ++i) {
    CHECK(static_cast<float>(found[i]) == (i < 256 ? i : 7));
  }
  CHECK(written);
}

constexpr AscendC::IsResetLoad3dConfig kKeepsRegisters = {false, false};

TEST_CASE("3D: registers of an earlier call, or set alone") {
  std::vector<half> kept, set;
  RunOnCube([&] {
    Put(L1<half>(0, 512), Counting<half>(512));
    AscendC::LoadData(L0a<half>(0, 512), L1<half>(0, 512), Move<half>(2, 16, 32, 16));
    AscendC::LoadData<half, kKeepsRegisters>(L0a<half>(2048, 512), L1<half>(0, 512),
                                             Move<half>(2, 16, 32, 16));
    const U8 pad[4] = {0, 0, 0, 255};
    AscendC::SetFmatrix(1, 16, pad);
    AscendC::SetLoadDataPaddingValue(half(5.0f));
    auto params = Move<half>(0, 16, 32, 16);
    params.l1W = 0;
    AscendC::LoadData<half, kKeepsRegisters>(L0a<half>(4096, 512), L1<half>(0, 512), params);
    kept = Take(L0a<half>(2048, 512));
    set = Take(L0a<half>(4096, 512));
  });
  for (int i = 0; i < 512; ++i) {
    CHECK(static_cast<float>(kept[i]) == i);
    CHECK(static_cast<float>(set[i]) == (i < 256 ? i : 5));
  }
}

TEST_CASE("gap rows travel without a value, turned over or not") {
  std::vector<bool> plain, turned;
  RunOnCube([&] {
    Put(L1<half>(0, 5 * 16), Counting<half>(5 * 16));  // 5 of 16 rows
    AscendC::LoadData(L0a<half>(0, 256), L1<half>(0, 256), Move<half>(1, 16, 16, 16));
    AscendC::LoadData(L0b<half>(0, 256), L1<half>(0, 256), Move<half>(1, 16, 16, 16));
    Take(L0b<half>(0, 256));
    for (uint32_t i = 0; i < 256; ++i) {
      plain.push_back(WasWritten(L0a<half>(0, 256), i));
      turned.push_back(WasWritten(L0b<half>(0, 256), i));
    }
  });
  for (int i = 0; i < 256; ++i) {
    CHECK(plain[i] == (i / 16 < 5));
    CHECK(turned[i] == (i % 16 < 5));
  }
}

TEST_CASE("contract") {
  const auto in = [] {
    Put(L1<half>(0, 1024), Counting<half>(1024));
    return L1<half>(0, 1024);
  };
  const auto load_2d = [&](uint32_t address, const LoadData2DParams& params) {
    return [=] { AscendC::LoadData(L0a<half>(address, 1024), in(), params); };
  };
  ExpectCubeFault("MTE1 LoadData", load_2d(32, {0, 1, 1, 0, 0, false, 0}));
  ExpectCubeFault("dst: address 32 in L0A, must be a multiple of 512",
                  load_2d(32, {0, 1, 1, 0, 0, false, 0}));
  ExpectCubeFault("src: bytes 0..2560, the tensor has 2048", load_2d(0, {0, 2, 4, 0, 0, false, 0}));
  ExpectCubeFault("src: bytes -512..512, the tensor has 2048",
                  load_2d(0, {0, 2, 1, 0, 0, false, 1}));
  ExpectCubeFault("dst: bytes 0..2560, the tensor has 2048", load_2d(0, {0, 2, 1, 0, 3, false, 0}));
  ExpectCubeFault("addrMode: 2, must be 0..1", load_2d(0, {0, 1, 1, 0, 0, false, 2}));
  ExpectCubeFault("sid: 1, must be 0..0", load_2d(0, {0, 1, 1, 1, 0, false, 0}));
  ExpectCubeFault("ifTranspose: set for elements of 4 bytes, must be 2", [] {
    AscendC::LoadData(L0a<float>(0, 512), L1<float>(0, 512),
                      LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  });
  ExpectCubeFault("value 256 does not fit the 8-bit field", [] {
    LoadData2DParams params;
    params.repeatTimes = 16 * 16;
  });
  ExpectCubeFault("dst: lies in UB, must lie in L0A or L0B", [&] {
    AscendC::LoadData(Ub<half>(0, 1024), in(), LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  });
  ExpectCubeFault("src: lies in L0B, must lie in L1", [] {
    AscendC::LoadData(L0a<half>(0, 256), L0b<half>(0, 256),
                      LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  });
}

TEST_CASE("contract of the 3D form") {
  const auto with = [](const char* text, const std::function<void(LoadData3DParamsV2<half>&)>& f) {
    ExpectCubeFault(text, [&] {
      Put(L1<half>(0, 1024), Counting<half>(1024));
      auto params = Move<half>(2, 32, 32, 32);
      f(params);
      AscendC::LoadData(L0a<half>(0, 1024), L1<half>(0, 1024), params);
    });
  };
  with("mExtension: 20, must be a multiple of 16", [](auto& p) { p.mExtension = 20; });
  with("kExtension: 24, must be a multiple of 16", [](auto& p) { p.kExtension = 24; });
  with("mStartPt: 8, must be a multiple of 16", [](auto& p) { p.mStartPt = 8; });
  with("kStartPt: 8, must be a multiple of 16", [](auto& p) { p.kStartPt = 8; });
  with("mStartPt + mExtension: 48, must be 1..32", [](auto& p) { p.mStartPt = 16; });
  with("kStartPt + kExtension: 48, must be 1..32", [](auto& p) { p.kStartPt = 16; });
  with("filterW: 3, must be 1: only moves of a matrix are emulated",
       [](auto& p) { p.filterW = 3; });
  with("strideH: 2, must be 1", [](auto& p) { p.strideH = 2; });
  with("padList[2]: 1, must be 0..0", [](auto& p) { p.padList[2] = 1; });
  with("enTranspose: set for L0A, must be false", [](auto& p) { p.enTranspose = true; });
  with("l1H: 0, must be 1..32767", [](auto& p) { p.l1H = 0; });
  with("enSmallK, filterSizeW, filterSizeH: set, must be false",
       [](auto& p) { p.enSmallK = true; });
  ExpectCubeFault("dst: elements of 4 bytes in L0B, must be 2", [] {
    AscendC::LoadData(L0b<float>(0, 1024), L1<float>(0, 1024), Move<float>(2, 32, 32, 32));
  });
  const auto keep = [](int height) {
    AscendC::LoadData<half, kKeepsRegisters>(L0a<half>(0, 1024), L1<half>(0, 1024),
                                             Move<half>(height, 32, 32, 32));
  };
  ExpectCubeFault("FMATRIX: was never set, and isSetFMatrix is false", [&] { keep(2); });
  ExpectCubeFault("l1H: 4, but isSetFMatrix is false and FMATRIX holds 2", [&] {
    const U8 pad[4] = {0, 0, 0, 0};
    AscendC::SetFmatrix(2, 16, pad);
    keep(4);
  });
  ExpectCubeFault("padValue: was never set, and isSetPadding is false", [&] {
    const U8 pad[4] = {0, 0, 0, 0};
    AscendC::SetFmatrix(2, 16, pad);
    keep(2);
  });
}

}  // namespace
}  // namespace sfmla::sim::test
