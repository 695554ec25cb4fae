// SPDX-License-Identifier: Apache-2.0
// Vector instructions of one tensor, on PIPE_V, operands in UB at multiples of 32 B:
//
//   Exp Ln Abs Sqrt Rsqrt Reciprocal Relu   dst = f(src)          half, float
//   Adds Muls Maxs Mins                     dst = src op scalar   half, float, int16_t, int32_t
//   Duplicate                               dst = scalar          16- and 32-bit types
//
// Each has three forms: count elements; `mask` leading elements of each of repeatTime 0..255 rounds
// of 256 B; a mask with a bit per element. isSetMask = false takes the mask register instead.
// Strides are in blocks of 32 B. Transcendental functions are those of the host's float32; on the
// chip they may differ in the last place.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/ascendc/parameters.h"
#include "sim/intrinsics/vector_call.h"
#include "sim/source_location.h"

namespace sfmla::sim {

inline LaneStrides DstStrides(const AscendC::UnaryRepeatParams& params) {
  return {params.dstBlkStride, params.dstRepStride};
}
inline LaneStrides SrcStrides(const AscendC::UnaryRepeatParams& params) {
  return {params.srcBlkStride, params.srcRepStride};
}

// NaN if either is NaN.
template <typename W>
W Larger(W a, W b) {
  return a != a ? a : b != b ? b : a < b ? b : a;
}
template <typename W>
W Smaller(W a, W b) {
  return a != a ? a : b != b ? b : b < a ? b : a;
}

template <typename T, typename Op>
void IssueUnary(const char* name, const SourceLocation& where, const LaneChoice& choice,
                const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                const AscendC::UnaryRepeatParams& params, Op op) {
  IssueElementwise<T>({name, Pipe::kV, where}, choice, OverlapRule::kSameOrApart, op,
                      Writes("dst", dst, DstStrides(params)),
                      Reads("src", src, SrcStrides(params)));
}

// The functions are of float32; the elements' own type is left and reached by conversion.
template <typename T, typename Op>
void IssueFunction(const char* name, const SourceLocation& where, const LaneChoice& choice,
                   const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                   const AscendC::UnaryRepeatParams& params, Op op) {
  RequireType<T, half, float>({name, Pipe::kV, where}, "dst");
  IssueUnary(name, where, choice, dst, src, params,
             [op](Wide<T> x) { return op(static_cast<float>(x)); });
}

template <typename T, typename Op>
void IssueWithScalar(const char* name, const SourceLocation& where, const LaneChoice& choice,
                     const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                     const T& scalar, const AscendC::UnaryRepeatParams& params, Op op) {
  RequireType<T, half, float, int16_t, int32_t>({name, Pipe::kV, where}, "dst");
  const auto value = static_cast<Wide<T>>(scalar);
  IssueUnary(name, where, choice, dst, src, params,
             [op, value](Wide<T> x) { return op(x, value); });
}

template <typename T>
void IssueDuplicate(const SourceLocation& where, const LaneChoice& choice,
                    const AscendC::LocalTensor<T>& dst, const T& scalar, LaneStrides strides) {
  const Call call{"Duplicate", Pipe::kV, where};
  RequireType<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t>(call, "dst");
  const auto value = static_cast<Wide<T>>(scalar);
  IssueElementwise<T>(
      call, choice, OverlapRule::kSameOrApart, [value] { return value; },
      Writes("dst", dst, strides));
}

}  // namespace sfmla::sim

namespace AscendC {

// The three forms of dst = f(src), where `f` is an expression of a float x.
#define SFMLA_SIM_FUNCTION(name, f)                                                                \
  template <typename T>                                                                            \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,            \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::IssueFunction(#name, where, sfmla::sim::CountLanes(count), dst, src, {},           \
                              [](float x) { return f; });                                          \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,                   \
            sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,                      \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::IssueFunction(                                                                     \
        #name, where, sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), \
        dst, src, repeatParams, [](float x) { return f; });                                        \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],           \
            sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,                      \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::IssueFunction(#name, where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime),     \
                              dst, src, repeatParams, [](float x) { return f; });                  \
  }

SFMLA_SIM_FUNCTION(Exp, std::exp(x))
SFMLA_SIM_FUNCTION(Ln, std::log(x))
SFMLA_SIM_FUNCTION(Abs, std::fabs(x))
SFMLA_SIM_FUNCTION(Sqrt, std::sqrt(x))
SFMLA_SIM_FUNCTION(Rsqrt, 1.0f / std::sqrt(x))
SFMLA_SIM_FUNCTION(Reciprocal, 1.0f / x)
SFMLA_SIM_FUNCTION(Relu, sfmla::sim::Larger(x, 0.0f))
#undef SFMLA_SIM_FUNCTION

// The three forms of dst = src op scalar, where `f` is an expression of x and the scalar s.
#define SFMLA_SIM_WITH_SCALAR(name, f)                                                             \
  template <typename T>                                                                            \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,            \
            const int32_t& count, const SourceLocation& where = SourceLocation::current()) {       \
    sfmla::sim::IssueWithScalar(#name, where, sfmla::sim::CountLanes(count), dst, src,             \
                                scalarValue, {}, [](auto x, auto s) { return f; });                \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,            \
            uint64_t mask, sfmla::sim::U8 repeatTime, const UnaryRepeatParams& repeatParams,       \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::IssueWithScalar(                                                                   \
        #name, where, sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), \
        dst, src, scalarValue, repeatParams, [](auto x, auto s) { return f; });                    \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,            \
            const uint64_t mask[], sfmla::sim::U8 repeatTime,                                      \
            const UnaryRepeatParams& repeatParams,                                                 \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::IssueWithScalar(#name, where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime),   \
                                dst, src, scalarValue, repeatParams,                               \
                                [](auto x, auto s) { return f; });                                 \
  }

SFMLA_SIM_WITH_SCALAR(Adds, x + s)
SFMLA_SIM_WITH_SCALAR(Muls, x* s)
SFMLA_SIM_WITH_SCALAR(Maxs, sfmla::sim::Larger(x, s))
SFMLA_SIM_WITH_SCALAR(Mins, sfmla::sim::Smaller(x, s))
#undef SFMLA_SIM_WITH_SCALAR

template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count,
               const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueDuplicate(where, sfmla::sim::CountLanes(count), dst, scalarValue, {});
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask,
               sfmla::sim::U8 repeatTime, sfmla::sim::U16 dstBlockStride,
               sfmla::sim::U8 dstRepeatStride,
               const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueDuplicate(
      where, sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), dst,
      scalarValue, {dstBlockStride, dstRepeatStride});
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const uint64_t mask[],
               sfmla::sim::U8 repeatTime, sfmla::sim::U16 dstBlockStride,
               sfmla::sim::U8 dstRepeatStride,
               const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::IssueDuplicate(where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst,
                             scalarValue, {dstBlockStride, dstRepeatStride});
}

}  // namespace AscendC
