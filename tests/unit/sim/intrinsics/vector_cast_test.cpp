// SPDX-License-Identifier: Apache-2.0
// Cast: types, modes and strides. That each mode rounds as defined is rounding_test.cpp's matter.
#include <cmath>

#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

using AscendC::RoundMode;
using AscendC::UnaryRepeatParams;

constexpr RoundMode kRounded[] = {RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL,
                                  RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC};

template <typename To, typename From>
std::vector<To> CastOf(const std::vector<From>& src, RoundMode mode) {
  const auto count = static_cast<uint32_t>(src.size());
  std::vector<To> found;
  RunOnVector([&] {
    Put(Ub<From>(0, count), src);
    AscendC::Cast(Ub<To>(8192, count), Ub<From>(0, count), mode, count);
    found = Take(Ub<To>(8192, count));
  });
  return found;
}

float ByMode(float x, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return std::floor(x);
    case RoundMode::CAST_CEIL:
      return std::ceil(x);
    case RoundMode::CAST_ROUND:
      return std::round(x);
    case RoundMode::CAST_TRUNC:
      return std::trunc(x);
    default:
      return std::nearbyint(x);
  }
}

TEST_CASE("to integers and whole numbers, in every mode") {
  const std::vector<float> src = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 1.25f, -1.75f, 40000.5f};
  std::vector<half> halves(src.begin(), src.end());
  std::vector<bfloat16_t> brains(src.begin(), src.end());
  for (const RoundMode mode : kRounded) {
    const auto words = CastOf<int32_t>(src, mode);
    const auto shorts = CastOf<int16_t>(src, mode);
    const auto wholes = CastOf<float>(src, mode);
    const auto from_half = CastOf<int32_t>(halves, mode);
    const auto from_brain = CastOf<int32_t>(brains, mode);
    const auto bytes = CastOf<int8_t>(halves, mode);
    const auto unsigned_bytes = CastOf<uint8_t>(halves, mode);
    for (size_t i = 0; i < src.size(); ++i) {
      const float whole = ByMode(src[i], mode);
      const float of_half = ByMode(static_cast<float>(halves[i]), mode);
      CHECK(words[i] == static_cast<int32_t>(whole));
      CHECK(shorts[i] == static_cast<int16_t>(std::min(whole, 32767.0f)));
      CHECK(wholes[i] == whole);
      CHECK(from_half[i] == static_cast<int32_t>(of_half));
      CHECK(from_brain[i] == static_cast<int32_t>(ByMode(static_cast<float>(brains[i]), mode)));
      CHECK(bytes[i] == static_cast<int8_t>(std::min(of_half, 127.0f)));
      CHECK(unsigned_bytes[i] == static_cast<uint8_t>(std::clamp(of_half, 0.0f, 255.0f)));
    }
  }
}

TEST_CASE("to 16-bit floats: the mode is used, NONE means to nearest even") {
  const std::vector<float> src = {1.0f + 0x1p-11f, 1.0f + 0x1p-8f, 70000.0f, -70000.0f, NAN};
  const auto nearest = CastOf<half>(src, RoundMode::CAST_NONE);
  const auto up = CastOf<half>(src, RoundMode::CAST_CEIL);
  const auto odd = CastOf<half>(src, RoundMode::CAST_ODD);
  const auto brain = CastOf<bfloat16_t>(src, RoundMode::CAST_ROUND);
  CHECK(static_cast<float>(nearest[0]) == 1.0f);
  CHECK(static_cast<float>(up[0]) == 1.0f + 0x1p-10f);
  CHECK(static_cast<float>(odd[0]) == 1.0f + 0x1p-10f);
  CHECK(static_cast<float>(nearest[2]) == INFINITY);
  CHECK(static_cast<float>(up[3]) == -65504.0f);
  CHECK(std::isnan(static_cast<float>(nearest[4])));
  CHECK(static_cast<float>(brain[1]) == 1.0f + 0x1p-7f);
}

TEST_CASE("widening is exact, integers become floats") {
  const auto halves = Randoms<half>(100, 3.0f);
  const auto brains = Randoms<bfloat16_t>(100, 3.0f);
  const auto from_half = CastOf<float>(halves, RoundMode::CAST_NONE);
  const auto from_brain = CastOf<float>(brains, RoundMode::CAST_NONE);
  for (int i = 0; i < 100; ++i) {
    CHECK(from_half[i] == static_cast<float>(halves[i]));
    CHECK(from_brain[i] == static_cast<float>(brains[i]));
  }
  const std::vector<int32_t> words = {0, -7, 16777217, INT32_MAX};
  CHECK(CastOf<float>(words, RoundMode::CAST_NONE)[2] == 16777216.0f);
  CHECK(CastOf<float>(words, RoundMode::CAST_CEIL)[2] == 16777218.0f);
  CHECK(CastOf<int16_t>(words, RoundMode::CAST_NONE)[3] == INT16_MAX);
  const std::vector<int16_t> shorts = {-2049, 2049};
  CHECK(static_cast<float>(CastOf<half>(shorts, RoundMode::CAST_FLOOR)[0]) == -2050.0f);
  CHECK(CastOf<float>(shorts, RoundMode::CAST_NONE)[1] == 2049.0f);
  CHECK(static_cast<float>(CastOf<half>(std::vector<int8_t>{-5}, RoundMode::CAST_NONE)[0]) == -5);
  CHECK(static_cast<float>(CastOf<half>(std::vector<uint8_t>{250}, RoundMode::CAST_NONE)[0]) ==
        250);
}

TEST_CASE("masks and rounds count elements of the wider type, strides differ per side") {
  const std::vector<float> src = Randoms<float>(3 * 64, 5.0f);
  const std::vector<bfloat16_t> before(3 * 64, bfloat16_t(-9.0f));
  std::vector<bfloat16_t> narrow;
  std::vector<float> wide;
  RunOnVector([&] {
    Put(Ub<float>(0, 192), src);
    Put(Ub<bfloat16_t>(1024, 192), before);
    AscendC::Cast(Ub<bfloat16_t>(1024, 192), Ub<float>(0, 192), RoundMode::CAST_RINT, uint64_t{40},
                  3, UnaryRepeatParams{1, 1, 4, 8});
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Cast(Ub<float>(4096, 192), Ub<bfloat16_t>(1024, 192), RoundMode::CAST_NONE,
                  uint64_t{64}, 3, UnaryRepeatParams{1, 1, 8, 4});
    narrow = Take(Ub<bfloat16_t>(1024, 192));
    wide = Take(Ub<float>(4096, 192));
  });
  for (int i = 0; i < 192; ++i) {
    const bfloat16_t wanted = i % 64 < 40 ? bfloat16_t(src[i]) : before[i];
    CHECK(SameBits(narrow[i], wanted));
    CHECK(wide[i] == static_cast<float>(wanted));
  }
}

TEST_CASE("contract") {
  const auto floats = [] {
    Put(Ub<float>(0, 64), std::vector<float>(64, 1.0f));
    return Ub<float>(0, 64);
  };
  ExpectVectorFault(
      "roundMode: CAST_NONE from float to bfloat16_t, must be one of CAST_RINT, CAST_FLOOR",
      [&] { AscendC::Cast(Ub<bfloat16_t>(1024, 64), floats(), RoundMode::CAST_NONE, 64); });
  ExpectVectorFault("dst: dtype bfloat16_t from src half, this conversion does not exist", [&] {
    AscendC::Cast(Ub<bfloat16_t>(1024, 64), Ub<half>(0, 64), RoundMode::CAST_RINT, 64);
  });
  ExpectVectorFault("dst: shares bytes with src in repeat 0",
                    [&] { AscendC::Cast(Ub<half>(0, 64), floats(), RoundMode::CAST_RINT, 64); });
  ExpectVectorFault("dst: bytes 0..128, the tensor has 64",
                    [&] { AscendC::Cast(Ub<half>(1024, 32), floats(), RoundMode::CAST_RINT, 64); });
  ExpectVectorFault("mask: 65, must be 1..64", [&] {
    AscendC::Cast(Ub<half>(1024, 64), floats(), RoundMode::CAST_RINT, uint64_t{65}, 1,
                  UnaryRepeatParams{1, 1, 4, 8});
  });
}

}  // namespace
}  // namespace sfmla::sim::test
