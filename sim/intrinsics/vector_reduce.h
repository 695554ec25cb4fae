// SPDX-License-Identifier: Apache-2.0
// Reductions on PIPE_V, half and float, operands in UB.
//
//   WholeReduceMax Min Sum   one result per round
//   BlockReduceMax Min Sum   one result per block of 32 B, eight per round
//   PairReduceSum            one result per pair of neighbours
//
// Sums add neighbours, then neighbouring sums, and so on (a binary tree); every sum of halves is
// rounded to half. Of equal extremes the first counts; NaN beats every number. A block or pair
// without an active element gives no defined result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "sim/intrinsics/vector_call.h"
#include "sim/source_location.h"

namespace sfmla::sim {

enum class Reduction : uint8_t { kMax, kMin, kSum };

// dstRepStride counts what one round gives: `results` elements, or value and index.
struct ReducePlan {
  Reduction reduction = Reduction::kSum;
  int64_t group = 0;  // elements per result
  // kMax and kMin of whole rounds may also give the index of the extreme in its round.
  AscendC::ReduceOrder order = AscendC::ReduceOrder::ORDER_ONLY_VALUE;
  int64_t element_bytes = 0;
  int64_t dst_repeat_stride = 0;
  int64_t src_block_stride = 1;
  int64_t src_repeat_stride = 8;
};
// Bytes of the results of one round, and from one round's to the next.
int64_t RoundResultBytes(const ReducePlan& plan);
int64_t RoundPitchBytes(const ReducePlan& plan);

// `undefined(offset)` is called for each result element, at byte `offset` of dst, without inputs.
template <typename T>
void Reduce(std::byte* dst, const T* src, const Lanes& lanes, const ReducePlan& plan,
            const std::function<void(int64_t)>& undefined);

void IssueReduce(const Call& call, const LaneChoice& choice, const Operand& dst, const Operand& src,
                 const ReducePlan& plan, bool is_half);

template <typename T>
void StartReduce(const char* name, const SourceLocation& where, const LaneChoice& choice,
                 const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                 ReducePlan plan) {
  const Call call{name, Pipe::kV, where};
  RequireType<T, half, float>(call, "dst");
  plan.element_bytes = sizeof(T);
  if (plan.group == 0) plan.group = kRepeatBytes / int64_t{sizeof(T)};
  if (plan.group == kBlockBytes) plan.group = kBlockBytes / int64_t{sizeof(T)};
  IssueReduce(call, choice, OperandOf(dst), OperandOf(src), plan, std::is_same_v<T, half>);
}

inline constexpr int64_t kWholeRounds = 0;
inline constexpr int64_t kBlocks = kBlockBytes;
inline constexpr int64_t kPairs = 2;

}  // namespace sfmla::sim

namespace AscendC {

// dstRepStride counts value-index pairs, values, or 4-byte indices, as `order` says.
#define SFMLA_SIM_WHOLE_EXTREME(name, reduction)                                                  \
  template <typename T, bool isSetMask = true>                                                    \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,             \
            const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,     \
            const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,       \
            const SourceLocation& where = SourceLocation::current()) {                            \
    sfmla::sim::StartReduce(#name, where, sfmla::sim::LeadingLanes<isSetMask>(mask, repeatTime),  \
                            dst, src,                                                             \
                            {reduction, sfmla::sim::kWholeRounds, order, 0, dstRepStride,         \
                             srcBlkStride, srcRepStride});                                        \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],          \
            const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,     \
            const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,       \
            const SourceLocation& where = SourceLocation::current()) {                            \
    sfmla::sim::StartReduce(#name, where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst, \
                            src,                                                                  \
                            {reduction, sfmla::sim::kWholeRounds, order, 0, dstRepStride,         \
                             srcBlkStride, srcRepStride});                                        \
  }

SFMLA_SIM_WHOLE_EXTREME(WholeReduceMax, sfmla::sim::Reduction::kMax)
SFMLA_SIM_WHOLE_EXTREME(WholeReduceMin, sfmla::sim::Reduction::kMin)
#undef SFMLA_SIM_WHOLE_EXTREME

template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride,
                    const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartReduce(
      "WholeReduceSum", where, sfmla::sim::LeadingLanes<isSetMask>(mask, repeatTime), dst, src,
      {sfmla::sim::Reduction::kSum, sfmla::sim::kWholeRounds, ReduceOrder::ORDER_ONLY_VALUE, 0,
       dstRepStride, srcBlkStride, srcRepStride});
}
template <typename T, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride,
                    const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartReduce(
      "WholeReduceSum", where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst, src,
      {sfmla::sim::Reduction::kSum, sfmla::sim::kWholeRounds, ReduceOrder::ORDER_ONLY_VALUE, 0,
       dstRepStride, srcBlkStride, srcRepStride});
}

// dstRepStride counts the results of a round: 8 for blocks, half of its elements for pairs. These
// take the repeat count before the mask.
#define SFMLA_SIM_PARTS_REDUCE(name, reduction, parts)                                             \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,        \
            const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,            \
            const int32_t srcRepStride, const SourceLocation& where = SourceLocation::current()) { \
    sfmla::sim::StartReduce(#name, where, sfmla::sim::LeadingLanes<isSetMask>(mask, repeatTime),   \
                            dst, src,                                                              \
                            {reduction, parts, ReduceOrder::ORDER_ONLY_VALUE, 0, dstRepStride,     \
                             srcBlkStride, srcRepStride});                                         \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,        \
            const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,         \
            const int32_t srcRepStride, const SourceLocation& where = SourceLocation::current()) { \
    sfmla::sim::StartReduce(#name, where, sfmla::sim::BitLanes<isSetMask>(mask, repeatTime), dst,  \
                            src,                                                                   \
                            {reduction, parts, ReduceOrder::ORDER_ONLY_VALUE, 0, dstRepStride,     \
                             srcBlkStride, srcRepStride});                                         \
  }

SFMLA_SIM_PARTS_REDUCE(BlockReduceMax, sfmla::sim::Reduction::kMax, sfmla::sim::kBlocks)
SFMLA_SIM_PARTS_REDUCE(BlockReduceMin, sfmla::sim::Reduction::kMin, sfmla::sim::kBlocks)
SFMLA_SIM_PARTS_REDUCE(BlockReduceSum, sfmla::sim::Reduction::kSum, sfmla::sim::kBlocks)
SFMLA_SIM_PARTS_REDUCE(PairReduceSum, sfmla::sim::Reduction::kSum, sfmla::sim::kPairs)
#undef SFMLA_SIM_PARTS_REDUCE

}  // namespace AscendC
