// SPDX-License-Identifier: Apache-2.0
// Fixpipe against a loop over rows and columns.
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::FixpipeParamsV220;

LocalTensor<float> L0c(uint32_t elements, uint32_t address = 0) {
  return LocalTensor<float>(TPosition::CO1, address, elements);
}

// Element (row, column) of an accumulator with `rows` rows per block column.
int NzAt(int row, int column, int rows, int width = 16) {
  return column / width * rows * width + row * width + column % width;
}

FixpipeParamsV220 ParamsOf(int n, int m, int src_stride, int dst_stride, QuantMode_t quant) {
  FixpipeParamsV220 params;
  params.nSize = n;
  params.mSize = m;
  params.srcStride = src_stride;
  params.dstStride = dst_stride;
  params.quantPre = quant;
  return params;
}

template <typename T>
constexpr QuantMode_t kQuant = std::is_same_v<T, float>  ? NoQuant
                               : std::is_same_v<T, half> ? F322F16
                                                         : F322BF16;

TEST_CASE_TEMPLATE("row-major: any size and pitch, converted to nearest even", T, float, half,
                   bfloat16_t) {
  constexpr int kRows = 21, kColumns = 37, kStored = 32, kPitch = 41;
  std::vector<float> in = Randoms<float>(3 * 16 * kStored, 3.3f);
  in[NzAt(2, 3, kStored)] = NAN;
  in[NzAt(2, 4, kStored)] = 1e30f;
  std::vector<T> out(kRows * kPitch, T(-9.0f));
  RunOnCube(
      [&] {
        const auto src = L0c(static_cast<uint32_t>(in.size()), 1024);
        Put(src, in);
        AscendC::Fixpipe(Gm(out), src, ParamsOf(kColumns, kRows, kStored, kPitch, kQuant<T>));
      },
      {Range(out, GmRange::Kind::kInOut)});
  for (int i = 0; i < kRows * kPitch; ++i) {
    const int column = i % kPitch;
    const T wanted = column < kColumns ? T(in[NzAt(i / kPitch, column, kStored)]) : T(-9.0f);
    const bool both_nan =
        std::isnan(static_cast<float>(wanted)) && std::isnan(static_cast<float>(out[i]));
    CHECK((both_nan || SameBits(out[i], wanted)));
  }
}

TEST_CASE("several matrices, and negative values clamped") {
  const std::vector<float> in = Randoms<float>(4 * 256, 3.0f);
  std::vector<float> out(2 * 100, -9.0f);
  RunOnCube(
      [&] {
        Put(L0c(1024), in);
        FixpipeParamsV220 params = ParamsOf(8, 4, 16, 10, NoQuant);
        params.ndNum = 2;
        params.srcNdStride = 2;
        params.dstNdStride = 100;
        params.reluEn = true;
        AscendC::Fixpipe(Gm(out), L0c(1024), params);
      },
      {Range(out, GmRange::Kind::kInOut)});
  for (int i = 0; i < 200; ++i) {
    const int row = i % 100 / 10, column = i % 10;
    const float value = in[i / 100 * 512 + row % 16 * 16 + column];
    CHECK(out[i] == (row < 4 && column < 8 ? std::max(value, 0.0f) : -9.0f));
  }
}

TEST_CASE("Nz to L1: block columns of 16, of 8 when the channels are split") {
  constexpr int kRows = 20, kColumns = 32, kStored = 32;
  const std::vector<float> in = Randoms<float>(kColumns * kStored, 3.0f);
  std::vector<half> halves;
  std::vector<float> floats;
  RunOnCube([&] {
    const auto src = L0c(static_cast<uint32_t>(in.size()));
    const LocalTensor<half> narrow(TPosition::A1, 0, 2 * 24 * 16);
    const LocalTensor<float> split(TPosition::A1, 4096, 4 * 24 * 8);
    Put(src, in);
    AscendC::Fixpipe<half, float, AscendC::CFG_NZ>(narrow, src,
                                                   ParamsOf(kColumns, kRows, kStored, 24, F322F16));
    auto params = ParamsOf(kColumns, kRows, kStored, 24, NoQuant);
    params.isChannelSplit = true;
    AscendC::Fixpipe<float, float, AscendC::CFG_NZ>(split, src, params);
    halves = Take(narrow);
    floats = Take(split);
  });
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const float value = in[NzAt(row, column, kStored)];
      CHECK(SameBits(halves[NzAt(row, column, 24)], half(value)));
      CHECK(floats[NzAt(row, column, 24, 8)] == value);
    }
  }
  CHECK(SameBits(halves[kRows * 16], Poison<half>()));
}

TEST_CASE_TEMPLATE("atomic addition: converted first, then added", T, float, half, bfloat16_t) {
  const std::vector<float> in = Randoms<float>(256, 3.3f, 1);
  std::vector<T> out = Randoms<T>(256, 3.0f, 2);
  const std::vector<T> before = out;
  RunOnCube(
      [&] {
        Put(L0c(256), in);
        AscendC::SetAtomicAdd<T>();
        AscendC::Fixpipe(Gm(out), L0c(256), ParamsOf(16, 16, 16, 16, kQuant<T>));
        AscendC::SetAtomicNone();
      },
      {Range(out, GmRange::Kind::kInOut)});
  for (int i = 0; i < 256; ++i) {
    CHECK(SameBits(out[i], T(static_cast<float>(before[i]) + static_cast<float>(T(in[i])))));
  }
}

TEST_CASE("elements outside of the region are not read, inside they must have a value") {
  std::vector<float> out(64, 0.0f);
  const std::vector<GmRange> ranges = {Range(out, GmRange::Kind::kInOut)};
  const auto kernel = [&](int rows, int columns) {
    return [&, rows, columns] {
      for (int row = 0; row < 3; ++row) {
        Put(L0c(16, static_cast<uint32_t>(row) * 64), std::vector<float>(5, 1.0f));
      }
      AscendC::Fixpipe(Gm(out), L0c(256), ParamsOf(columns, rows, 16, 16, NoQuant));
    };
  };
  RunOnCube(kernel(3, 5), ranges);
  ExpectCubeFault("src: reads 1 bytes of L0C at 192, which nothing has written", kernel(4, 5),
                  ranges);
  ExpectCubeFault("src: reads 1 bytes of L0C at 20, which nothing has written", kernel(3, 6),
                  ranges);
}

TEST_CASE("unit flags: Mmad fills, Fixpipe waits for full and frees, without event flags") {
  std::vector<float> out(2 * 256, 0.0f);
  const auto kernel = [&](int product_flag, int fixpipe_flag, int times) {
    return [&, product_flag, fixpipe_flag, times] {
      const LocalTensor<half> a(TPosition::A2, 0, 256), b(TPosition::B2, 0, 256);
      Put(a, std::vector<half>(256, half(1.0f)));
      Put(b, std::vector<half>(256, half(2.0f)));
      AscendC::MmadParams params;
      params.m = params.n = params.k = 16;
      auto store = ParamsOf(16, 16, 16, 16, NoQuant);
      params.unitFlag = product_flag;
      store.unitFlag = fixpipe_flag;
      for (int i = 0; i < times; ++i) {
        AscendC::Mmad(L0c(256), a, b, params);
        AscendC::Fixpipe(Gm(out)[256 * static_cast<uint64_t>(i)], L0c(256), store);
      }
    };
  };
  RunOnCube(kernel(3, 3, 2), {Range(out, GmRange::Kind::kInOut)});
  for (const float value : out) CHECK(value == 32.0f);
  ExpectCubeFault("Mmad", kernel(0, 0, 2), {Range(out, GmRange::Kind::kInOut)});
  ExpectCubeFault("Fixpipe", kernel(2, 3, 1), {Range(out, GmRange::Kind::kInOut)});
}

TEST_CASE("contract") {
  std::vector<float> gm(4096);
  std::vector<half> halves(64);
  const std::vector<GmRange> ranges = {Range(gm, GmRange::Kind::kInOut),
                                       Range(halves, GmRange::Kind::kInOut)};
  const auto with = [&](const char* text, const std::function<void(FixpipeParamsV220&)>& change) {
    ExpectCubeFault(
        text,
        [&] {
          Put(L0c(1024), std::vector<float>(1024, 1.0f));
          FixpipeParamsV220 params = ParamsOf(32, 20, 32, 64, NoQuant);
          change(params);
          AscendC::Fixpipe(Gm(gm), L0c(1024), params);
        },
        ranges);
  };
  with("FIX Fixpipe at fixpipe_test.cpp", [](auto& p) { p.nSize = 0; });
  with("nSize: 4096, must be 1..4095", [](auto& p) { p.nSize = 4096; });
  with("mSize: 8193, must be 1..8192", [](auto& p) { p.mSize = 8193; });
  with("srcNdStride: 513, must be 0..512", [](auto& p) { p.srcNdStride = 513; });
  with("ndNum: 0, must be 1..65535", [](auto& p) { p.ndNum = 0; });
  with("dstStride: 31, must be 32..", [](auto& p) { p.dstStride = 31; });
  with("srcStride: 19, must be 20..65535", [](auto& p) { p.srcStride = 19; });
  with("unitFlag: 1, must be 2..3", [](auto& p) { p.unitFlag = 1; });
  with("isChannelSplit: set, must be false", [](auto& p) { p.isChannelSplit = true; });
  with("quantPre: 1 with dst float, must be NoQuant (0) for float",
       [](auto& p) { p.quantPre = F322F16; });
  with("src: bytes 0..5376, the tensor has 4096", [](auto& p) { p.nSize = 48; });
  with("dst: bytes 0..19052, the tensor has 16384", [](auto& p) { p.dstStride = 249; });
  const auto nz = [&](const char* text, FixpipeParamsV220 params, uint32_t address = 0) {
    ExpectCubeFault(text, [=] {
      Put(L0c(1024), std::vector<float>(1024, 1.0f));
      AscendC::Fixpipe<half, float, AscendC::CFG_NZ>(LocalTensor<half>(TPosition::A1, address, 512),
                                                     L0c(1024), params);
    });
  };
  nz("nSize: 20, must be a multiple of 16", ParamsOf(20, 16, 32, 16, F322F16));
  nz("dstStride: 15, must be 16..", ParamsOf(32, 16, 32, 15, F322F16));
  nz("quantPre: 0 with dst half", ParamsOf(32, 16, 32, 16, NoQuant));
  nz("dst: address 16 in L1, must be a multiple of 32", ParamsOf(32, 16, 32, 16, F322F16), 16);
  nz("dst: bytes 0..1536, the tensor has 1024", ParamsOf(32, 16, 32, 32, F322F16));
  FixpipeParamsV220 split = ParamsOf(32, 16, 32, 16, F322F16);
  split.isChannelSplit = true;
  nz("isChannelSplit: set for a 16-bit dst, must be false", split);
  ExpectCubeFault("src: lies in L1, must lie in L0C", [&] {
    AscendC::Fixpipe(Gm(gm), LocalTensor<float>(TPosition::A1, 0, 1024),
                     ParamsOf(16, 16, 16, 16, NoQuant));
  });
  ExpectCubeFault(
      "dst: dtype half, must be float as in SetAtomicAdd",
      [&] {
        AscendC::SetAtomicAdd<float>();
        AscendC::Fixpipe(Gm(halves), L0c(1024), ParamsOf(8, 8, 16, 8, F322F16));
      },
      ranges);
}

}  // namespace
}  // namespace sfmla::sim::test
