// SPDX-License-Identifier: Apache-2.0
// Mmad against a loop over m, n and k on the documented layouts.
#include <bit>
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::MmadParams;

template <typename T>
LocalTensor<T> L0a(uint32_t elements, uint32_t address = 0) {
  return LocalTensor<T>(TPosition::A2, address, elements);
}
template <typename T>
LocalTensor<T> L0b(uint32_t elements, uint32_t address = 0) {
  return LocalTensor<T>(TPosition::B2, address, elements);
}
LocalTensor<float> L0c(uint32_t elements, uint32_t address = 0) {
  return LocalTensor<float>(TPosition::CO1, address, elements);
}

int Ceil(int value, int step) { return (value + step - 1) / step * step; }

// A matrix in fractals of 16 x c0, rows of fractals behind each other (Zz). A [K, N] matrix in Zn
// is the transposed one in fractals whose blocks of k come first.
int ZzAt(int row, int column, int c0, int columns) {
  return (row / 16 * (Ceil(columns, c0) / c0) + column / c0) * 16 * c0 + row % 16 * c0 +
         column % c0;
}
int ZnAt(int k, int n, int c0, int all_n) {
  return (k / c0 * (Ceil(all_n, 16) / 16) + n / 16) * 16 * c0 + n % 16 * c0 + k % c0;
}
int NzAt(int row, int column, int rows) {
  return column / 16 * Ceil(rows, 16) * 16 + row * 16 + column % 16;
}

struct Shape {
  int m, n, k;
};

MmadParams ParamsOf(const Shape& shape, bool adds) {
  MmadParams params;
  params.m = shape.m;
  params.n = shape.n;
  params.k = shape.k;
  params.cmatrixInitVal = !adds;
  return params;
}

// Matrices in their layouts; what lies outside of m, n and k is NaN, to show if it is used.
template <typename T>
struct Matrices {
  explicit Matrices(const Shape& shape)
      : c0(32 / static_cast<int>(sizeof(T))),
        left(Ceil(shape.m, 16) * Ceil(shape.k, c0), T(NAN)),
        right(Ceil(shape.k, c0) * Ceil(shape.n, 16), T(NAN)),
        a(Randoms<T>(shape.m * shape.k, 2.0f, 1)),
        b(Randoms<T>(shape.k * shape.n, 2.0f, 2)) {
    for (int i = 0; i < shape.m * shape.k; ++i) {
      const int at = shape.m == 1 ? i : ZzAt(i / shape.k, i % shape.k, c0, shape.k);
      left[at] = a[i];
    }
    for (int i = 0; i < shape.k * shape.n; ++i) {
      right[ZnAt(i / shape.n, i % shape.n, c0, shape.n)] = b[i];
    }
  }
  float Sum(const Shape& shape, int row, int column, float start) const {
    for (int k = 0; k < shape.k; ++k) {
      start +=
          static_cast<float>(a[row * shape.k + k]) * static_cast<float>(b[k * shape.n + column]);
    }
    return start;
  }

  int c0;
  std::vector<T> left, right, a, b;
};

template <typename T>
std::vector<float> Product(const Shape& shape, const Matrices<T>& matrices, int times) {
  const auto elements = static_cast<uint32_t>(Ceil(shape.m, 16) * Ceil(shape.n, 16));
  std::vector<float> found;
  RunOnCube([&] {
    const auto a = L0a<T>(static_cast<uint32_t>(matrices.left.size()));
    const auto b = L0b<T>(static_cast<uint32_t>(matrices.right.size()));
    Put(a, matrices.left);
    Put(b, matrices.right);
    for (int i = 0; i < times; ++i) {
      AscendC::Mmad(L0c(elements), a, b, ParamsOf(shape, i > 0));
      AscendC::PipeBarrier<PIPE_M>();
    }
    found = Take(L0c(elements));
  });
  return found;
}

TEST_CASE_TEMPLATE("C = A * B and C += A * B", T, half, bfloat16_t, float) {
  for (const Shape& shape : {Shape{16, 16, 16}, Shape{32, 48, 64}, Shape{5, 7, 9},
                             Shape{33, 17, 40}, Shape{1, 32, 48}, Shape{1, 3, 5}}) {
    const Matrices<T> matrices(shape);
    const std::vector<float> once = Product(shape, matrices, 1);
    const std::vector<float> twice = Product(shape, matrices, 2);
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        const float sum = matrices.Sum(shape, row, column, 0.0f);
        CHECK(once[NzAt(row, column, shape.m)] == sum);
        CHECK(twice[NzAt(row, column, shape.m)] == matrices.Sum(shape, row, column, sum));
      }
    }
  }
}

TEST_CASE("the old C is where the sum begins, not what is added at the end") {
  const Shape shape{16, 16, 2};
  Matrices<half> matrices(shape);
  matrices.left.assign(256, half(1.0f));
  matrices.right.assign(256, half(1.0f));
  float found = 0;
  RunOnCube([&] {
    Put(L0a<half>(256), matrices.left);
    Put(L0b<half>(256), matrices.right);
    Put(L0c(256), std::vector<float>(256, 0x1p24f));
    AscendC::Mmad(L0c(256), L0a<half>(256), L0b<half>(256), ParamsOf(shape, true));
    found = Take(L0c(256))[0];
  });
  CHECK(found == 0x1p24f);  // each 1 is lost by itself; 2 would not be
}

TEST_CASE("an element does not depend on m and n") {
  const Shape small{16, 16, 64}, large{48, 32, 64};
  Matrices<half> part(small);
  Matrices<half> whole(large);
  std::mt19937 random(9);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  for (int k = 0; k < 64; ++k) {
    for (int i = 0; i < 16; ++i) {
      part.left[ZzAt(i, k, 16, 64)] = whole.left[ZzAt(i, k, 16, 64)] = half(values(random));
      part.right[ZnAt(k, i, 16, 16)] = whole.right[ZnAt(k, i, 16, 32)] = half(values(random));
    }
  }
  const auto of_part = Product(small, part, 2);
  const auto of_whole = Product(large, whole, 2);
  for (int i = 0; i < 256; ++i) {
    CHECK(SameBits(of_part[NzAt(i / 16, i % 16, 16)], of_whole[NzAt(i / 16, i % 16, 48)]));
  }
}

TEST_CASE("infinity and NaN reach the elements they belong to and no others") {
  const Shape shape{16, 16, 16};
  Matrices<half> matrices(shape);
  matrices.left[ZzAt(2, 3, 16, 16)] = half(NAN);
  matrices.right[ZnAt(5, 7, 16, 16)] = half(INFINITY);
  const auto found = Product(shape, matrices, 1);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      CHECK(std::isfinite(found[NzAt(row, column, 16)]) == (row != 2 && column != 7));
    }
  }
}

TEST_CASE("rows and columns without a value give elements without one; along k they are a fault") {
  const Shape shape{16, 16, 32};
  const Matrices<half> matrices(shape);
  const auto written_when = [&](const std::function<void()>& forget, int times) {
    std::vector<bool> written;
    RunOnCube([&] {
      Put(L0a<half>(512), matrices.left);
      Put(L0b<half>(512), matrices.right);
      forget();
      for (int i = 0; i < times; ++i) {
        AscendC::Mmad(L0c(256), L0a<half>(512), L0b<half>(512), ParamsOf(shape, i > 0));
        AscendC::PipeBarrier<PIPE_M>();
      }
      Take(L0c(256));
      for (uint32_t i = 0; i < 256; ++i) written.push_back(WasWritten(L0c(256), i));
    });
    return written;
  };
  const auto forget_a = [](int row, int k) {
    CurrentCore()
        .memory(Space::kL0A)
        .MarkUnwritten(static_cast<uint64_t>(ZzAt(row, k, 16, 32)) * 2, 2);
  };
  const auto forget_b = [](int k, int n) {
    CurrentCore()
        .memory(Space::kL0B)
        .MarkUnwritten(static_cast<uint64_t>(ZnAt(k, n, 16, 16)) * 2, 2);
  };
  for (const int times : {1, 2}) {
    const auto written = written_when(
        [&] {
          for (int k = 0; k < 32; ++k) {
            forget_a(13, k);
            forget_b(k, 4);
          }
        },
        times);
    for (int i = 0; i < 256; ++i) {
      CHECK(written[NzAt(i / 16, i % 16, 16)] == (i / 16 != 13 && i % 16 != 4));
    }
  }
  ExpectCubeFault("fm: row 13: some of its 32 elements along k were never written", [&] {
    Put(L0a<half>(512), matrices.left);
    Put(L0b<half>(512), matrices.right);
    forget_a(13, 31);
    AscendC::Mmad(L0c(256), L0a<half>(512), L0b<half>(512), ParamsOf(shape, false));
  });
  ExpectCubeFault("filter: column 4: some of its 32 elements along k were never written", [&] {
    Put(L0a<half>(512), matrices.left);
    Put(L0b<half>(512), matrices.right);
    forget_b(31, 4);
    AscendC::Mmad(L0c(256), L0a<half>(512), L0b<half>(512), ParamsOf(shape, false));
  });
}

TEST_CASE("rows behind m and columns behind n are left undefined") {
  const Shape shape{5, 7, 16};
  const Matrices<half> matrices(shape);
  std::vector<bool> written;
  RunOnCube([&] {
    Put(L0a<half>(256), matrices.left);
    Put(L0b<half>(256), matrices.right);
    AscendC::Mmad(L0c(256), L0a<half>(256), L0b<half>(256), ParamsOf(shape, false));
    Take(L0c(256));
    for (uint32_t i = 0; i < 256; ++i) written.push_back(WasWritten(L0c(256), i));
  });
  for (int i = 0; i < 256; ++i) CHECK(written[i] == (i / 16 < 5 && i % 16 < 7));
}

TEST_CASE("an accumulator that was never set has no value after adding to it") {
  const Shape shape{16, 16, 16};
  const Matrices<half> matrices(shape);
  bool written = true;
  RunOnCube([&] {
    Put(L0a<half>(256), matrices.left);
    Put(L0b<half>(256), matrices.right);
    AscendC::Mmad(L0c(256), L0a<half>(256), L0b<half>(256), ParamsOf(shape, true));
    Take(L0c(256));
    written = WasWritten(L0c(256), 0);
  });
  CHECK(!written);
}

TEST_CASE(
    "accumulating products: small ones need a barrier, from 10 fractals on the chip keeps order") {
  const auto accumulate = [](const Shape& shape) {
    const Matrices<half> matrices(shape);
    return [=] {
      const auto elements = static_cast<uint32_t>(shape.m * shape.n);
      const auto a = L0a<half>(static_cast<uint32_t>(matrices.left.size()));
      const auto b = L0b<half>(static_cast<uint32_t>(matrices.right.size()));
      Put(a, matrices.left);
      Put(b, matrices.right);
      AscendC::Mmad(L0c(elements), a, b, ParamsOf(shape, false));
      AscendC::Mmad(L0c(elements), a, b, ParamsOf(shape, true));
    };
  };
  ExpectCubeFault("Mmad", accumulate({48, 48, 16}));
  RunOnCube(accumulate({32, 80, 16}));
}

TEST_CASE("contract") {
  const auto with = [](const char* text, const std::function<void(MmadParams&)>& change) {
    ExpectCubeFault(text, [&] {
      MmadParams params = ParamsOf({16, 16, 16}, false);
      change(params);
      AscendC::Mmad(L0c(256), L0a<half>(256), L0b<half>(256), params);
    });
  };
  with("M Mmad at mmad_test.cpp", [](auto& p) { p.m = 4096; });
  with("m: 4096, must be 0..4095", [](auto& p) { p.m = 4096; });
  with("n: 4096, must be 0..4095", [](auto& p) { p.n = 4096; });
  with("k: 4096, must be 0..4095", [](auto& p) { p.k = 4096; });
  with("unitFlag: 1, must be 2..3", [](auto& p) { p.unitFlag = 1; });
  with("isBias: set, must be false", [](auto& p) { p.isBias = true; });
  with("cmatrixSource: set, must be false", [](auto& p) { p.cmatrixSource = true; });
  with("fmOffset: 1, must be 0..0", [](auto& p) { p.fmOffset = 1; });
  with("dst: bytes 0..2048, the tensor has 1024", [](auto& p) { p.m = 17; });
  with("fm: bytes 0..1024, the tensor has 512", [](auto& p) { p.k = 17; });
  const MmadParams params = ParamsOf({16, 16, 16}, false);
  ExpectCubeFault("dst: address 512 in L0C, must be a multiple of 1024",
                  [&] { AscendC::Mmad(L0c(256, 512), L0a<half>(256), L0b<half>(256), params); });
  ExpectCubeFault("fm: address 32 in L0A, must be a multiple of 512",
                  [&] { AscendC::Mmad(L0c(256), L0a<half>(256, 32), L0b<half>(256), params); });
  ExpectCubeFault("filter: lies in L0A, must lie in L0B",
                  [&] { AscendC::Mmad(L0c(256), L0a<half>(256), L0a<half>(256), params); });
  ExpectCubeFault("filter: dtype bfloat16_t, must be half",
                  [&] { AscendC::Mmad(L0c(256), L0a<half>(256), L0b<bfloat16_t>(256), params); });
  ExpectVectorFault("has no pipe M",
                    [&] { AscendC::Mmad(L0c(256), L0a<half>(256), L0b<half>(256), params); });
}

}  // namespace
}  // namespace sfmla::sim::test
