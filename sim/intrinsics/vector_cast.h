// SPDX-License-Identifier: Apache-2.0
// Cast: conversions between element types on PIPE_V.
//
//   to \ from   float          half           bfloat16_t   int32_t   int16_t   int8_t, uint8_t
//   float       R F C A T      N              N            N and all N         -
//   half        all            -              -            -         N and all N
//   bfloat16_t  R F C A T      -              -            -         -         -
//   int32_t     R F C A T      R F C A T      R F C A T    -         -         -
//   int16_t     R F C A T      R F C A T      -            N         -         -
//   int8_t      -              N and all      -            -         -         -
//   uint8_t     -              N and all      -            -         -         -
//
// N CAST_NONE, R CAST_RINT (halves to even), F CAST_FLOOR, C CAST_CEIL, A CAST_ROUND (halves away
// from zero), T CAST_TRUNC, "all" R F C A T, with CAST_ODD for float to half. CAST_NONE rounds like
// CAST_RINT where digits are lost. Overflow gives infinity for floating point, the nearest limit
// for integers; NaN becomes 0 as an integer. Masks and repeats count elements of the wider type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sim/ascendc/parameters.h"
#include "sim/contracts/vector_cast.h"
#include "sim/intrinsics/rounding.h"
#include "sim/intrinsics/vector_call.h"
#include "sim/intrinsics/vector_unary.h"
#include "sim/source_location.h"

namespace sfmla::sim {

Rounding RoundingOf(AscendC::RoundMode mode);

template <typename To, typename From>
To Converted(From value, Rounding rounding) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(
        std::clamp<int64_t>(value, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
  } else if constexpr (std::is_integral_v<To>) {
    return static_cast<To>(IntegerOf(static_cast<float>(value), rounding,
                                     std::numeric_limits<To>::min(),
                                     std::numeric_limits<To>::max()));
  } else {
    float wide = 0;
    if constexpr (std::is_integral_v<From>) {
      // Narrower integers are exact in float32; an int32_t is rounded here and nowhere else.
      wide = FloatOfInteger(value, rounding);
    } else {
      wide = static_cast<float>(value);
    }
    if constexpr (std::is_same_v<To, half>) return RoundToHalf(wide, rounding);
    if constexpr (std::is_same_v<To, bfloat16_t>) return RoundToBfloat16(wide, rounding);
    if constexpr (std::is_same_v<To, From>) return RoundToWhole(wide, rounding);
    return static_cast<To>(wide);
  }
}

// A count form puts the elements of both types behind each other.
template <typename To, typename From>
AscendC::UnaryRepeatParams DenseStrides() {
  constexpr size_t kWidest = std::max(sizeof(To), sizeof(From));
  return {1, 1, 8 * sizeof(To) / kWidest, 8 * sizeof(From) / kWidest};
}

template <typename To, typename From>
void IssueCast(const SourceLocation& where, const LaneChoice& choice,
               const AscendC::LocalTensor<To>& dst, const AscendC::LocalTensor<From>& src,
               AscendC::RoundMode mode, const AscendC::UnaryRepeatParams& params) {
  const Call call{"Cast", Pipe::kV, where};
  CheckCast(call, TypeName<To>(), TypeName<From>(), mode);
  const Lanes lanes = ResolveLanes(call, choice, std::max(sizeof(To), sizeof(From)));
  const VectorArgument to = Writes("dst", dst, DstStrides(params));
  const VectorArgument from = Reads("src", src, SrcStrides(params));
  const Rounding rounding = RoundingOf(mode);
  IssueVector(call, lanes, {to, from}, OverlapRule::kSameOrApart, [=] {
    ForEachLane(
        lanes, [rounding](From value) { return Converted<To>(value, rounding); },
        ElementsOf<To>(to), ElementsOf<From>(from));
  });
}

}  // namespace sfmla::sim

namespace AscendC {

template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          sfmla::sim::U32 count, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueCast(where, sfmla::sim::CountLanes(count), dst, src, roundMode,
                        sfmla::sim::DenseStrides<T, U>());
}
template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint64_t mask, sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,
          const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueCast(where,
                        sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime),
                        dst, src, roundMode, repeatParams);
}
template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint64_t mask[], sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,
          const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueCast(where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst, src,
                        roundMode, repeatParams);
}

}  // namespace AscendC
