// SPDX-License-Identifier: Apache-2.0
#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::DataCopyExtParams;
using AscendC::DataCopyPadExtParams;
using AscendC::DataCopyParams;
using AscendC::Nd2NzParams;

template <typename T>
LocalTensor<T> L1(uint32_t address, uint32_t elements) {
  return LocalTensor<T>(TPosition::A1, address, elements);
}

constexpr auto kIn = GmRange::Kind::kInput;
constexpr auto kInOut = GmRange::Kind::kInOut;

TEST_CASE("count form: cut down to whole blocks of 32 B, on every path") {
  std::vector<half> in = Counting<half>(100);
  std::vector<half> out(100, half(-1.0f));
  std::vector<half> ub, copy;
  RunOnVector(
      [&] {
        AscendC::DataCopy(Ub<half>(64, 100), Gm(in)[3], 50);  // 100 B: 3 blocks
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(Ub<half>(1024, 100), Ub<half>(64, 100), 40);
        AscendC::DataCopy(Gm(out)[1], Ub<half>(64, 100), 47);
        AscendC::DataCopy(Gm(out)[60], Ub<half>(64, 100), 15);  // not one block: nothing
        ub = Take(Ub<half>(64, 100));
        copy = Take(Ub<half>(1024, 100));
      },
      {Range(in, kIn), Range(out, kInOut)});
  for (int i = 0; i < 100; ++i) {
    CHECK(SameBits(ub[i], i < 48 ? in[3 + i] : Poison<half>()));
    CHECK(SameBits(copy[i], i < 32 ? in[3 + i] : Poison<half>()));
    CHECK(SameBits(out[i], i >= 1 && i < 33 ? in[3 + i - 1] : half(-1.0f)));
  }
}

TEST_CASE("blocks with gaps of 32 B on both sides") {
  std::vector<float> in = Counting<float>(400);
  std::vector<float> out(400, -1.0f);
  std::vector<float> ub;
  RunOnVector(
      [&] {
        AscendC::DataCopy(Ub<float>(0, 256), Gm(in)[1], DataCopyParams{3, 2, 4, 1});
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(Gm(out), Ub<float>(0, 256), DataCopyParams{3, 2, 1, 3});
        ub = Take(Ub<float>(0, 256));
      },
      {Range(in, kIn), Range(out, kInOut)});
  for (int block = 0; block < 3; ++block) {
    for (int i = 0; i < 16; ++i) {
      CHECK(ub[block * 24 + i] == in[1 + block * 48 + i]);
      CHECK(out[block * 40 + i] == in[1 + block * 48 + i]);
    }
  }
  CHECK(SameBits(ub[16], Poison<float>()));
  CHECK(out[16] == -1.0f);
}

TEST_CASE("DataCopyPad out: exactly the bytes of each burst") {
  std::vector<half> out(100, half(-1.0f));
  RunOnVector(
      [&] {
        Put(Ub<half>(0, 128), Counting<half>(128));
        // Rows of 22 B lie in 32 B each, one block apart, and 6 B apart in GM.
        AscendC::DataCopyPad(Gm(out)[2], Ub<half>(0, 128), DataCopyExtParams{3, 22, 1, 6, 0});
      },
      {Range(out, kInOut)});
  for (int i = 0; i < 100; ++i) {
    const int row = (i - 2) / 14;
    const int column = (i - 2) % 14;
    const bool written = i >= 2 && row < 3 && column < 11;
    CHECK(static_cast<float>(out[i]) == (written ? row * 32 + column : -1));
  }
}

std::vector<half> PadIn(std::vector<half>& in, const DataCopyPadExtParams<half>& pad,
                        std::vector<bool>* written) {
  std::vector<half> ub;
  RunOnVector(
      [&] {
        // Bursts of 5 elements, 3 apart in GM, one block apart in UB.
        AscendC::DataCopyPad(Ub<half>(0, 96), Gm(in)[1], DataCopyExtParams{2, 10, 6, 1, 0}, pad);
        ub = Take(Ub<half>(0, 96));
        for (uint32_t i = 0; i < 96; ++i) written->push_back(WasWritten(Ub<half>(0, 96), i));
      },
      {Range(in, kIn)});
  return ub;
}

TEST_CASE("DataCopyPad in: what stands around a burst") {
  std::vector<half> in = Counting<half>(64);
  const auto data = [&](int row, int i) { return in[1 + row * 8 + i]; };
  SUBCASE("nothing asked for: the burst's first element up to 32 B") {
    std::vector<bool> written;
    const auto ub = PadIn(in, {false, 0, 0, half(9.0f)}, &written);
    for (int i = 0; i < 96; ++i) {
      const int row = i / 32;
      const bool inside = row < 2 && i % 32 < 16;
      const half wanted = !inside ? Poison<half>() : data(row, i % 32 < 5 ? i % 32 : 0);
      CHECK(SameBits(ub[i], wanted));
      CHECK(written[i] == inside);
    }
  }
  SUBCASE("a value, left and right; behind that nothing is defined") {
    std::vector<bool> written;
    const auto ub = PadIn(in, {true, 2, 4, half(9.0f)}, &written);
    for (int i = 0; i < 96; ++i) {
      const int row = i / 32;
      const int column = i % 32;
      CHECK(written[i] == (row < 2 && column < 11));
      if (!written[i]) continue;
      const bool padding = column < 2 || column >= 7;
      CHECK(SameBits(ub[i], padding ? half(9.0f) : data(row, column - 2)));
    }
  }
  SUBCASE("padding without a value is not defined") {
    std::vector<bool> written;
    const auto ub = PadIn(in, {false, 2, 3, half(9.0f)}, &written);
    for (int i = 0; i < 96; ++i) {
      const int column = i % 32;
      CHECK(written[i] == (i < 64 && column >= 2 && column < 7));
      if (written[i]) CHECK(SameBits(ub[i], data(i / 32, column - 2)));
    }
  }
}

TEST_CASE("the older parameter structs of DataCopyPad mean the same") {
  std::vector<float> in = Counting<float>(16);
  std::vector<float> out(16, -1.0f);
  std::vector<float> ub;
  RunOnVector(
      [&] {
        AscendC::DataCopyPad(Ub<float>(0, 16), Gm(in), DataCopyParams{2, 12, 4, 0},
                             AscendC::DataCopyPadParams{true, 0, 5, 0x40400000});
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopyPad(Gm(out), Ub<float>(0, 16), DataCopyParams{2, 12, 0, 8});
        ub = Take(Ub<float>(0, 16));
      },
      {Range(in, kIn), Range(out, kInOut)});
  CheckSameBits(ub, {0, 1, 2, 3, 3, 3, 3, 3, 4, 5, 6, 3, 3, 3, 3, 3});
  CheckSameBits(out, {0, 1, 2, -1, -1, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1});
}

TEST_CASE_TEMPLATE("ND to NZ: element (r, c) to block c / C0, tails zero, gap rows unwritten", T,
                   half, float, int8_t) {
  constexpr int kC0 = 32 / static_cast<int>(sizeof(T));
  constexpr int kRows = 5, kColumns = 2 * kC0 + 3, kPitch = kColumns + 4;
  constexpr int kAlignedRows = 16, kMatrix = 3 * kAlignedRows * kC0;
  std::vector<T> in = Counting<T>(2 * 7 * kPitch);
  std::vector<T> l1;
  std::vector<bool> written;
  RunOnCube(
      [&] {
        Nd2NzParams params;
        params.ndNum = 2;
        params.nValue = kRows;
        params.dValue = kColumns;
        params.srcNdMatrixStride = 7 * kPitch;
        params.srcDValue = kPitch;
        params.dstNzC0Stride = kAlignedRows;
        params.dstNzNStride = 1;
        params.dstNzMatrixStride = kMatrix;
        AscendC::DataCopy(L1<T>(0, 2 * kMatrix), Gm(in), params);
        l1 = Take(L1<T>(0, 2 * kMatrix));
        for (uint32_t i = 0; i < 2 * kMatrix; ++i) {
          written.push_back(WasWritten(L1<T>(0, 2 * kMatrix), i));
        }
      },
      {Range(in, kIn)});
  for (int i = 0; i < 2 * kMatrix; ++i) {
    const int matrix = i / kMatrix;
    const int column = i % kMatrix / (kAlignedRows * kC0) * kC0 + i % kC0;
    const int row = i % (kAlignedRows * kC0) / kC0;
    CHECK(written[i] == (row < kRows));
    if (row >= kRows) continue;
    const T wanted =
        column < kColumns ? in[matrix * 7 * kPitch + row * kPitch + column] : static_cast<T>(0);
    CHECK_MESSAGE(SameBits(l1[i], wanted), "element ", i);
  }
}

TEST_CASE("ND to NZ: rows may be interleaved, a count of 0 does nothing") {
  std::vector<half> in = Counting<half>(64);
  std::vector<half> l1;
  RunOnCube(
      [&] {
        // 2 rows of 2 blocks: row stride 2, block stride 1 puts them back in row order.
        AscendC::DataCopy(L1<half>(0, 64), Gm(in), Nd2NzParams{1, 2, 32, 0, 32, 1, 2, 0});
        AscendC::DataCopy(L1<half>(1024, 64), Gm(in), Nd2NzParams{1, 0, 32, 0, 32, 1, 2, 0});
        l1 = Take(L1<half>(0, 64));
        CHECK(!WasWritten(L1<half>(1024, 64), 0));
      },
      {Range(in, kIn)});
  CheckSameBits(l1, in);
}

TEST_CASE_TEMPLATE("atomic addition to GM", T, float, half, bfloat16_t, int32_t, int16_t) {
  std::vector<T> out = Randoms<T>(64, 64.0f, 1);
  const std::vector<T> before = out;
  const std::vector<T> terms = Randoms<T>(64, 64.0f, 2);
  RunOnVector(
      [&] {
        Put(Ub<T>(0, 64), terms);
        AscendC::SetAtomicAdd<T>();
        AscendC::DataCopy(Gm(out), Ub<T>(0, 64), 32);
        AscendC::DataCopyPad(Gm(out)[50], Ub<T>(0, 64),
                             DataCopyExtParams{1, 3 * sizeof(T), 0, 0, 0});
        AscendC::SetAtomicNone();
        AscendC::DataCopyPad(Gm(out)[60], Ub<T>(0, 64), DataCopyExtParams{1, sizeof(T), 0, 0, 0});
      },
      {Range(out, kInOut)});
  const auto sum = [&](int to, int from) {
    return T(static_cast<float>(before[to]) + static_cast<float>(terms[from]));
  };
  for (int i = 0; i < 64; ++i) {
    const bool padded = i >= 50 && i < 53;
    const T wanted = i < 32 ? sum(i, i) : padded ? sum(i, i - 50) : i == 60 ? terms[0] : before[i];
    CHECK(SameBits(out[i], wanted));
  }
}

TEST_CASE("contract of DataCopy and DataCopyPad") {
  std::vector<half> gm = Counting<half>(4096);
  const std::vector<GmRange> ranges = {Range(gm, kInOut)};
  const auto vector_fault = [&](const char* text, const std::function<void()>& kernel) {
    ExpectVectorFault(text, kernel, ranges);
  };
  const auto cube_fault = [&](const char* text, const std::function<void()>& kernel) {
    ExpectCubeFault(text, kernel, ranges);
  };
  vector_fault("MTE2 DataCopy at data_copy_test.cpp",
               [&] { AscendC::DataCopy(Ub<half>(2, 64), Gm(gm), 64); });
  vector_fault("dst: address 2 in UB, must be a multiple of 32",
               [&] { AscendC::DataCopy(Ub<half>(2, 64), Gm(gm), 64); });
  vector_fault("dst: bytes 0..128, the tensor has 96",
               [&] { AscendC::DataCopy(Ub<half>(0, 48), Gm(gm), 64); });
  vector_fault("src: bytes 0..128, the tensor has 92",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), Gm(gm)[4050], 64); });
  vector_fault("blockCount: 4096, must be 1..4095",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), Gm(gm), DataCopyParams{4096, 1, 0, 0}); });
  vector_fault("blockLen: 0, must be 1..65535",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), Gm(gm), DataCopyParams{1, 0, 0, 0}); });
  vector_fault("value 65536 does not fit the 16-bit field",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), Gm(gm), DataCopyParams{1, 1, 65536, 0}); });
  vector_fault("value -1 does not fit the 32-bit field",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), Gm(gm), -1); });
  vector_fault("dst: lies in UB with src in L1, must be GM -> UB",
               [&] { AscendC::DataCopy(Ub<half>(0, 64), L1<half>(0, 64), 64); });
  vector_fault("dst: shares bytes with src, must not", [&] {
    Put(Ub<half>(0, 64), Counting<half>(64));
    AscendC::DataCopy(Ub<half>(32, 64), Ub<half>(0, 64), 32);
  });
  vector_fault("blockLen: 2097152, must be 1..2097151", [&] {
    AscendC::DataCopyPad(Gm(gm), Ub<half>(0, 64), DataCopyExtParams{1, 2097152, 0, 0, 0});
  });
  const DataCopyExtParams burst{1, 10, 0, 0, 0};
  vector_fault("rightPadding: 34 bytes, must be 32 or less", [&] {
    AscendC::DataCopyPad(Ub<half>(0, 64), Gm(gm), burst, {true, 0, 17, half(0.0f)});
  });
  vector_fault("leftPadding: 34 bytes, must be 32 or less", [&] {
    AscendC::DataCopyPad(Ub<half>(0, 64), Gm(gm), burst, {true, 17, 0, half(0.0f)});
  });
  cube_fault("dst: lies in L1, must lie in UB", [&] {
    AscendC::DataCopyPad(L1<half>(0, 64), Gm(gm), burst, {true, 0, 0, half(0.0f)});
  });
  vector_fault("dst: dtype half, must be float as in SetAtomicAdd", [&] {
    Put(Ub<half>(0, 64), Counting<half>(64));
    AscendC::SetAtomicAdd<float>();
    AscendC::DataCopy(Gm(gm), Ub<half>(0, 64), 64);
  });
}

TEST_CASE("contract of the ND to NZ form") {
  std::vector<half> gm = Counting<half>(4096);
  const std::vector<GmRange> ranges = {Range(gm, kInOut)};
  const auto cube_fault = [&](const char* text, const std::function<void()>& kernel) {
    ExpectCubeFault(text, kernel, ranges);
  };
  const auto nz = [&](const Nd2NzParams& params, uint32_t address = 0) {
    return [&gm, params, address] { AscendC::DataCopy(L1<half>(address, 1024), Gm(gm), params); };
  };
  cube_fault("dstNzNStride: 0, must be 1..16384", nz({1, 4, 32, 0, 32, 16, 0, 0}));
  cube_fault("dstNzC0Stride: 16385, must be 1..16384", nz({1, 4, 32, 0, 32, 16385, 1, 0}));
  cube_fault("srcDValue: 0, must be 1..65535", nz({1, 4, 32, 0, 0, 16, 1, 0}));
  cube_fault("nValue: 16385, must be 0..16384", nz({1, 16385, 32, 0, 32, 16, 1, 0}));
  cube_fault("ndNum: 4096, must be 0..4095", nz({4096, 4, 32, 0, 32, 16, 1, 16}));
  cube_fault("dstNzMatrixStride: 17, must be a multiple of 16", nz({2, 4, 32, 0, 32, 16, 1, 17}));
  cube_fault("dst: address 16 in L1, must be a multiple of 32",
             nz({1, 4, 32, 0, 32, 16, 1, 0}, 16));
  cube_fault("dst: bytes 0..2080, the tensor has 2048", nz({1, 5, 32, 0, 32, 60, 1, 0}));
  cube_fault("dstNzC0Stride: 2 puts blocks of 4 rows on each other",
             nz({1, 4, 48, 0, 48, 2, 1, 0}));
  cube_fault("src: bytes 0..8232, the tensor has 8192", nz({1, 5, 20, 0, 1024, 16, 1, 0}));
}

TEST_CASE("a tensor ends where it says, in the middle of memory and without checks, too") {
  std::vector<half> gm = Counting<half>(4096);
  GlobalTensor<half> first;
  first.SetGlobalBuffer(gm.data(), 1024);
  const std::vector<GmRange> ranges = {Range(gm, kInOut)};
  const auto expect_fault = [&](KernelType type, const std::function<void()>& kernel) {
    for (const bool checks : {true, false}) {
      LaunchConfig config;
      config.type = type;
      config.checks = checks;
      const LaunchResult result = LaunchKernel(config, kernel, ranges);
      CHECK_MESSAGE(result.fault.find("the tensor has 0") != std::string::npos, result.fault);
    }
  };
  const GlobalTensor<half> wild = first[2048];
  const auto in_vector = KernelType::kAivOnly;
  expect_fault(in_vector, [&] { AscendC::DataCopy(Ub<half>(0, 64), wild, 64); });
  expect_fault(in_vector, [&] { AscendC::DataCopy(wild, Ub<half>(0, 64), 64); });
  expect_fault(in_vector, [&] {
    AscendC::DataCopyPad(Ub<half>(0, 64), wild, DataCopyExtParams{1, 64, 0, 0, 0},
                         DataCopyPadExtParams<half>{});
  });
  expect_fault(KernelType::kAicOnly, [&] {
    AscendC::DataCopy(L1<half>(0, 1024), wild, Nd2NzParams{1, 4, 32, 0, 32, 16, 1, 0});
  });
}

}  // namespace
}  // namespace sfmla::sim::test
