// SPDX-License-Identifier: Apache-2.0
// The matrix registers in software, which stand in for a processor's when kernels are tested.
#define SFMLA_ISA_NAMESPACE isa_amx_in_software
#define SFMLA_AMX_IN_SOFTWARE
#include "op_kernel/arch/cpu/amx_tiles.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sfmla::isa_amx_in_software {
namespace {

constexpr int kSum = 1, kLeft = 4, kRight = 7;
constexpr float kPoison = -77;

using Matrix = std::array<std::array<float, kAmxColumns>, kAmxRows>;
using PairMatrix = std::array<std::array<uint32_t, kAmxColumns>, kAmxRows>;

uint32_t Pair(float even, float odd) {
  return std::bit_cast<uint32_t>(even) >> 16 | (std::bit_cast<uint32_t>(odd) & 0xFFFF0000u);
}

void Configure(int rows) {
  AmxShapes shapes;
  shapes.SetRows(kSum, rows);
  shapes.SetRows(kLeft, rows);
  shapes.SetRows(kRight, kAmxRows);
  ConfigureAmx(shapes);
}

// sum + left x right; rows from `rows` on stay as they are.
void Multiply(int rows, const PairMatrix& left, const PairMatrix& right, Matrix* sum) {
  Configure(rows);
  LoadAmxTile<kSum>(sum, kAmxRowBytes);
  LoadAmxTile<kLeft>(&left, kAmxRowBytes);
  LoadAmxTile<kRight>(&right, kAmxRowBytes);
  AddAmxProducts<kSum, kLeft, kRight>();
  StoreAmxTile<kSum>(sum, kAmxRowBytes);
  ReleaseAmx();
}

TEST_CASE("AMX in software: sums are rounded in the order of the reference") {
  struct Case {
    const char* what;
    float sum;
    float left[4];  // two pairs
    float right[4];
    float expected;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Worked out by hand from the operation of TDPBF16PS.
  const Case cases[] = {
      {"exact", 0.5f, {1, 2, 3, 4}, {5, 6, 7, 8}, 70.5f},
      {"even products lose what odd ones, apart from them, keep",
       0,
       {1, 0x1p-24f, 0x1p-24f, 0x1p-24f},
       {1, 1, 1, 1},
       1 + 0x1p-23f},
      {"the sum comes last", 0x1p24f, {1, 0x1p-1f, 0, 0}, {1, 1, 0, 0}, 0x1p24f + 2},
      {"ties go to even", 0x1p24f, {3, 0, 0, 0}, {1, 0, 0, 0}, 0x1p24f + 4},
      {"denormal elements are 0", 0, {0x1p-130f, 0, 0x1p-127f, 0}, {0x1p100f, 0, 1, 0}, 0},
      {"denormal products are 0", 0, {0x1p-70f, 0, 0, 0}, {0x1p-70f, 0, 0, 0}, 0},
      {"denormal totals are 0", -0x1p-126f, {0x1.8p-126f, 0, 0, 0}, {1, 0, 0, 0}, 0},
      {"a denormal sum is 0", 0x1p-128f, {0x1p-126f, 0, 0, 0}, {1, 0, 0, 0}, 0x1p-126f},
      {"overflow", 0, {0x1p100f, 0, 0, 0}, {0x1p100f, 0, 0, 0}, kInfinity},
      {"infinity", 1, {0, 1, 0, 0}, {0, -kInfinity, 0, 0}, -kInfinity},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    PairMatrix left{}, right{};
    for (size_t k = 0; k < 2; ++k) {
      left[3][k] = Pair(c.left[2 * k], c.left[2 * k + 1]);
      right[k][5] = Pair(c.right[2 * k], c.right[2 * k + 1]);
    }
    Matrix sum{};
    sum[3][5] = c.sum;
    Multiply(kAmxRows, left, right, &sum);
    CHECK(sum[3][5] == c.expected);
  }
}

TEST_CASE("AMX in software: infinity times 0 is a NaN, in its own row only") {
  PairMatrix left{}, right{};
  right[2][4] = Pair(std::numeric_limits<float>::infinity(), 0);
  Matrix sum{};
  left[1][2] = Pair(1, 0);
  Multiply(kAmxRows, left, right, &sum);
  CHECK(sum[1][4] == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(sum[0][4]));
  CHECK(sum[0][3] == 0);
}

TEST_CASE("AMX in software: products of matrices, of so many rows as are configured") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const int rows : {1, 7, kAmxRows}) {
    CAPTURE(rows);
    PairMatrix left, right;
    Matrix sum;
    for (PairMatrix* matrix : {&left, &right}) {
      for (auto& row : *matrix) {
        for (uint32_t& pair : row) pair = Pair(normal(random), normal(random));
      }
    }
    for (auto& row : sum) row.fill(kPoison);
    Multiply(rows, left, right, &sum);
    for (size_t m = 0; m < kAmxRows; ++m) {
      for (size_t n = 0; n < kAmxColumns; ++n) {
        double exact = kPoison, size = -kPoison;
        for (size_t k = 0; k < kAmxColumns && m < static_cast<size_t>(rows); ++k) {
          for (const int shift : {16, 0}) {
            const double term =
                static_cast<double>(std::bit_cast<float>(left[m][k] << shift & 0xFFFF0000u)) *
                static_cast<double>(std::bit_cast<float>(right[k][n] << shift & 0xFFFF0000u));
            exact += term;
            size += std::abs(term);
          }
        }
        // 18 roundings of at most half a unit of the sum of magnitudes.
        CHECK(std::abs(sum[m][n] - exact) <= 18 * 0x1p-24 * size);
      }
    }
  }
}

TEST_CASE("AMX in software: rows lie as far apart as their stride says") {
  constexpr int kStride = 3 * kAmxColumns;
  std::vector<float> from(kAmxRows * kStride), to(kAmxRows * kStride, kPoison);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  Configure(5);
  LoadAmxTile<kSum>(from.data(), 4 * kStride);
  StoreAmxTile<kSum>(to.data(), 4 * kStride);
  ReleaseAmx();
  for (size_t i = 0; i < to.size(); ++i) {
    const bool is_copied = i / kStride < 5 && i % kStride < kAmxColumns;
    CHECK(to[i] == (is_copied ? from[i] : kPoison));
  }
}

TEST_CASE("AMX in software: zeroing and configuring leave zeros") {
  Matrix sum;
  for (auto& row : sum) row.fill(kPoison);
  const Matrix poisoned = sum;
  const auto is_zero = [](const auto& row) { return row == Matrix::value_type{}; };
  Configure(kAmxRows);
  LoadAmxTile<kSum>(&poisoned, kAmxRowBytes);
  ZeroAmxTile<kSum>();
  StoreAmxTile<kSum>(&sum, kAmxRowBytes);
  CHECK(std::all_of(sum.begin(), sum.end(), is_zero));

  LoadAmxTile<kSum>(&poisoned, kAmxRowBytes);
  Configure(kAmxRows);
  StoreAmxTile<kSum>(&sum, kAmxRowBytes);
  ReleaseAmx();
  CHECK(std::all_of(sum.begin(), sum.end(), is_zero));
}

}  // namespace
}  // namespace sfmla::isa_amx_in_software
