// SPDX-License-Identifier: Apache-2.0
// Vector instructions of two tensors, on PIPE_V, operands in UB at multiples of 32 B:
//
//   Add Sub Mul Max Min   half, float, int16_t, int32_t
//   Div                   half, float
//
// with the three forms of vector_unary.h. A source block stride of 0 reads one block eight times,
// which is how a value per row is applied to a row after Brcb. All but Div may accumulate into
// src1: see OverlapRule::kAccumulates.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/ascendc/parameters.h"
#include "sim/intrinsics/vector_call.h"
#include "sim/intrinsics/vector_unary.h"
#include "sim/source_location.h"

namespace sfmla::sim {

template <typename T, typename Op>
void IssueBinary(const Call& call, const LaneChoice& choice, OverlapRule rule,
                 const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                 const AscendC::LocalTensor<T>& src1, const AscendC::BinaryRepeatParams& params,
                 Op op) {
  IssueElementwise<T>(call, choice, rule, op,
                      Writes("dst", dst, {params.dstBlkStride, params.dstRepStride}),
                      Reads("src0", src0, {params.src0BlkStride, params.src0RepStride}),
                      Reads("src1", src1, {params.src1BlkStride, params.src1RepStride}));
}

template <typename T, typename Op>
void IssueArithmetic(const char* name, const SourceLocation& where, const LaneChoice& choice,
                     const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                     const AscendC::LocalTensor<T>& src1, const AscendC::BinaryRepeatParams& params,
                     Op op) {
  const Call call{name, Pipe::kV, where};
  RequireType<T, half, float, int16_t, int32_t>(call, "dst");
  constexpr OverlapRule kRule =
      std::is_same_v<T, int16_t> ? OverlapRule::kSameOrApart : OverlapRule::kAccumulates;
  IssueBinary(call, choice, kRule, dst, src0, src1, params, op);
}

template <typename T, typename Op>
void IssueDivision(const char* name, const SourceLocation& where, const LaneChoice& choice,
                   const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                   const AscendC::LocalTensor<T>& src1, const AscendC::BinaryRepeatParams& params,
                   Op op) {
  const Call call{name, Pipe::kV, where};
  RequireType<T, half, float>(call, "dst");
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    IssueBinary(call, choice, OverlapRule::kSameOrApart, dst, src0, src1, params, op);
  }
}

}  // namespace sfmla::sim

namespace AscendC {

// The three forms of dst = src0 op src1, where `f` is an expression of a and b.
#define SFMLA_SIM_BINARY(name, issue, f)                                                           \
  template <typename T>                                                                            \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            const int32_t& count, const SourceLocation& where = SourceLocation::current()) {       \
    sfmla::sim::issue(#name, where, sfmla::sim::CountLanes(count), dst, src0, src1, {},            \
                      [](auto a, auto b) { return f; });                                           \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            uint64_t mask, sfmla::sim::U8 repeatTime, const BinaryRepeatParams& repeatParams,      \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::issue(#name, where,                                                                \
                      sfmla::sim::LeadingLanes<isSetMask>(static_cast<int64_t>(mask), repeatTime), \
                      dst, src0, src1, repeatParams, [](auto a, auto b) { return f; });            \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            const uint64_t mask[], sfmla::sim::U8 repeatTime,                                      \
            const BinaryRepeatParams& repeatParams,                                                \
            const SourceLocation& where = SourceLocation::current()) {                             \
    sfmla::sim::issue(#name, where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst, src0,  \
                      src1, repeatParams, [](auto a, auto b) { return f; });                       \
  }

SFMLA_SIM_BINARY(Add, IssueArithmetic, a + b)
SFMLA_SIM_BINARY(Sub, IssueArithmetic, a - b)
SFMLA_SIM_BINARY(Mul, IssueArithmetic, a* b)
SFMLA_SIM_BINARY(Max, IssueArithmetic, sfmla::sim::Larger(a, b))
SFMLA_SIM_BINARY(Min, IssueArithmetic, sfmla::sim::Smaller(a, b))
SFMLA_SIM_BINARY(Div, IssueDivision, a / b)
#undef SFMLA_SIM_BINARY

}  // namespace AscendC
