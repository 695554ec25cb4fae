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

#include "tile_case.h"

namespace sfmla::isa_amx_in_software {
namespace {

constexpr int kSum = 1, kLeft = 4, kRight = 7;
constexpr float kPoison = -77;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Matrix = std::array<std::array<float, kAmxColumns>, kAmxRows>;
using PairMatrix = std::array<std::array<uint32_t, kAmxColumns>, kAmxRows>;

// `value`, which has few enough digits, as a number of 16 bits.
uint32_t Bits(ElementType type, float value) {
  if (type == ElementType::kBfloat16) return std::bit_cast<uint32_t>(value) >> 16;
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value)) return sign | 0x7C00;
  const float units = std::abs(value) * 0x1p24f;  // subnormal numbers count them
  if (units < 1024) return sign | static_cast<uint32_t>(units);
  const auto exponent = static_cast<uint32_t>(std::ilogb(value) + 15);
  return sign | exponent << 10 | (std::bit_cast<uint32_t>(value) >> 13 & 0x3FF);
}

uint32_t Pair(ElementType type, float even, float odd) {
  return Bits(type, even) | Bits(type, odd) << 16;
}

void Configure(int rows) {
  AmxShapes shapes;
  shapes.SetRows(kSum, rows);
  shapes.SetRows(kLeft, rows);
  shapes.SetRows(kRight, kAmxRows);
  ConfigureAmx(shapes);
}

// sum + left x right; rows from `rows` on stay as they are.
template <ElementType kType>
void Multiply(int rows, const PairMatrix& left, const PairMatrix& right, Matrix* sum) {
  Configure(rows);
  LoadAmxTile<kSum>(sum, kAmxRowBytes);
  LoadAmxTile<kLeft>(&left, kAmxRowBytes);
  LoadAmxTile<kRight>(&right, kAmxRowBytes);
  AddAmxProducts<kType, kSum, kLeft, kRight>();
  StoreAmxTile<kSum>(sum, kAmxRowBytes);
  ReleaseAmx();
}

struct Case {
  const char* what;
  float sum;
  float left[4];  // two pairs
  float right[4];
  float expected;
};

template <ElementType kType>
void Check(const Case& c) {
  CAPTURE(c.what);
  PairMatrix left{}, right{};
  for (size_t k = 0; k < 2; ++k) {
    left[3][k] = Pair(kType, c.left[2 * k], c.left[2 * k + 1]);
    right[k][5] = Pair(kType, c.right[2 * k], c.right[2 * k + 1]);
  }
  Matrix sum{};
  sum[3][5] = c.sum;
  Multiply<kType>(kAmxRows, left, right, &sum);
  CHECK(sum[3][5] == c.expected);
}

TEST_CASE("AMX in software: sums are rounded in the order of the reference") {
  // Worked out by hand from the operations of TDPBF16PS and TDPFP16PS.
  const Case cases[] = {
      {"exact", 0.5f, {1, 2, 3, 4}, {5, 6, 7, 8}, 70.5f},
      {"even products lose what odd ones, apart from them, keep",
       0,
       {1, 0x1p-12f, 0x1p-12f, 0x1p-12f},
       {1, 0x1p-12f, 0x1p-12f, 0x1p-12f},
       1 + 0x1p-23f},
      {"the sum comes last", 0x1p24f, {1, 0x1p-1f, 0, 0}, {1, 1, 0, 0}, 0x1p24f + 2},
      {"ties go to even", 0x1p24f, {3, 0, 0, 0}, {1, 0, 0, 0}, 0x1p24f + 4},
      {"a denormal sum is 0", 0x1p-127f, {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
      {"infinity", 1, {0, 1, 0, 0}, {0, -kInfinity, 0, 0}, -kInfinity},
  };
  for (const Case& c : cases) {
    Check<ElementType::kBfloat16>(c);
    Check<ElementType::kFloat16>(c);
  }
}

TEST_CASE("AMX in software: denormal bfloat16, and what gets that small, are 0") {
  const Case cases[] = {
      {"denormal elements are 0", 0, {0x1p-130f, 0, 0x1p-127f, 0}, {0x1p100f, 0, 1, 0}, 0},
      {"denormal products are 0", 0, {0x1p-70f, 0, 0, 0}, {0x1p-70f, 0, 0, 0}, 0},
      {"denormal totals are 0", -0x1p-126f, {0x1.8p-126f, 0, 0, 0}, {1, 0, 0, 0}, 0},
      {"a denormal sum counts as 0", 0x1p-128f, {0x1p-126f, 0, 0, 0}, {1, 0, 0, 0}, 0x1p-126f},
      {"overflow", 0, {0x1p100f, 0, 0, 0}, {0x1p100f, 0, 0, 0}, kInfinity},
  };
  for (const Case& c : cases) Check<ElementType::kBfloat16>(c);
}

TEST_CASE("AMX in software: denormal float16 are what they are") {
  const Case cases[] = {
      {"times the largest", 0, {0x1p-24f, 0, 0, 0}, {65504, 0, 0, 0}, 0x1.FFCp-9f},
      {"times another", 0, {0, 0x1p-24f, 0, 0}, {0, -0x1p-24f, 0, 0}, -0x1p-48f},
      {"with all digits", 1, {0, 0, 0x1.FF8p-15f, 0}, {0, 0, 1, 0}, 1 + 0x1.FF8p-15f},
      {"products as large as can be",
       0,
       {65504, 65504, 0, 0},
       {65504, 65504, 0, 0},
       0x1.FF8008p32f},
  };
  for (const Case& c : cases) Check<ElementType::kFloat16>(c);
}

TEST_CASE("AMX in software: every float16 pattern, times 1") {
  PairMatrix one{};
  one[0][0] = Pair(ElementType::kFloat16, 1, 0);
  for (uint32_t base = 0; base < 0x10000; base += kAmxColumns) {
    PairMatrix right{};
    for (uint32_t n = 0; n < kAmxColumns; ++n) right[0][n] = base + n;
    Matrix sum{};
    Multiply<ElementType::kFloat16>(kAmxRows, one, right, &sum);
    for (uint32_t n = 0; n < kAmxColumns; ++n) {
      const double value =
          test::WidenExactly(ElementType::kFloat16, static_cast<uint16_t>(base + n));
      const bool is_right = std::isnan(value) ? std::isnan(sum[0][n]) : sum[0][n] == value;
      CHECK(is_right);
    }
  }
}

TEST_CASE("AMX in software: infinity times 0 is a NaN, in its own row only") {
  const auto check = []<ElementType kType>() {
    PairMatrix left{}, right{};
    right[2][4] = Pair(kType, kInfinity, 0);
    Matrix sum{};
    left[1][2] = Pair(kType, 1, 0);
    Multiply<kType>(kAmxRows, left, right, &sum);
    CHECK(sum[1][4] == kInfinity);
    CHECK(std::isnan(sum[0][4]));
    CHECK(sum[0][3] == 0);
  };
  check.operator()<ElementType::kBfloat16>();
  check.operator()<ElementType::kFloat16>();
}

// The largest error relative to the sum of magnitudes, of products of matrices with random
// elements.
template <ElementType kType>
double ErrorOfProducts(int rows) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  // Few enough digits for either type.
  const auto number = [&] { return static_cast<float>(std::lrint(64 * normal(random))) / 64; };
  PairMatrix left, right;
  Matrix sum;
  for (PairMatrix* matrix : {&left, &right}) {
    for (auto& row : *matrix) {
      for (uint32_t& pair : row) pair = Pair(kType, number(), number());
    }
  }
  for (auto& row : sum) row.fill(kPoison);
  Multiply<kType>(rows, left, right, &sum);
  double worst = 0;
  for (size_t m = 0; m < kAmxRows; ++m) {
    for (size_t n = 0; n < kAmxColumns; ++n) {
      double exact = kPoison, size = -kPoison;
      for (size_t k = 0; k < kAmxColumns && m < static_cast<size_t>(rows); ++k) {
        for (const int shift : {0, 16}) {
          const double term =
              test::WidenExactly(kType, static_cast<uint16_t>(left[m][k] >> shift)) *
              test::WidenExactly(kType, static_cast<uint16_t>(right[k][n] >> shift));
          exact += term;
          size += std::abs(term);
        }
      }
      worst = test::Worse(worst, std::abs(sum[m][n] - exact) / size);
    }
  }
  return worst;
}

TEST_CASE("AMX in software: products of matrices, of so many rows as are configured") {
  for (const int rows : {1, 7, kAmxRows}) {
    CAPTURE(rows);
    // 18 roundings of at most half a unit of the sum of magnitudes.
    CHECK(ErrorOfProducts<ElementType::kBfloat16>(rows) <= 18 * 0x1p-24);
    CHECK(ErrorOfProducts<ElementType::kFloat16>(rows) <= 18 * 0x1p-24);
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
