// SPDX-License-Identifier: Apache-2.0
// The end of a row: sinks, division, rounding, LSE; and merging the results of its chunks. A result
// is (maximum, sum, output), the output not yet divided by the sum.
#pragma once

#include "op_kernel/arch/dav_2201/vector_context.h"

namespace sfmla::dav_2201 {

// Rows of the accumulator that arithmetic takes at a time: as many as an input buffer holds.
inline constexpr int64_t kOutputRows = ub::kInput.bytes / (kHeadElements * kFloatBytes);
static_assert(kOutputRows * kHeadElements * kElementBytes <= ub::kOutput.bytes, "rounded rows fit");
static_assert(kOutputRows % kFloatsPerBlock == 0, "blocks begin at whole blocks of float32");

// Scratch with a float32 per head; Ub index of ub::kHeadScratch.
enum HeadScratch : uint32_t { kSoftmaxScratch, kFirst, kSecond, kThird, kFourth, kFifth };
static_assert(kFifth < ub::kHeadScratch.count, "the table has room for all");

// Row `row` of the accumulator and those behind it.
__aicore__ inline Floats AccumulatorRow(int64_t row) {
  return Ub<float, ub::kAccumulator>()[static_cast<uint32_t>(row * kHeadDim)];
}

// Per head of a chunk, or of several merged ones.
struct HeadStatistics {
  Floats max;
  Floats sum;
};

// What either result is multiplied by when two are merged.
struct MergeFactors {
  Floats total;
  Floats part;
};

// total = total merged with part, maximum and sum only, in this order. A chunk without keys, with a
// sum of 0 and the lowest maximum, changes nothing.
__aicore__ inline MergeFactors MergeStatistics(const HeadStatistics& total,
                                               const HeadStatistics& part, int64_t heads) {
  const auto count = static_cast<int32_t>(heads);
  const Floats max = Ub<float, ub::kHeadScratch>(kFirst);
  const Floats scaled_sum = Ub<float, ub::kHeadScratch>(kSecond);
  const MergeFactors factors{Ub<float, ub::kHeadScratch>(kThird),
                             Ub<float, ub::kHeadScratch>(kFourth)};
  AscendC::Max(max, total.max, part.max, count);
  VectorBarrier();
  AscendC::Sub(factors.total, total.max, max, count);
  AscendC::Sub(factors.part, part.max, max, count);
  VectorBarrier();
  AscendC::Exp(factors.total, factors.total, count);
  AscendC::Exp(factors.part, factors.part, count);
  VectorBarrier();
  AscendC::Mul(total.sum, total.sum, factors.total, count);
  AscendC::Mul(scaled_sum, part.sum, factors.part, count);
  AscendC::Max(total.max, total.max, part.max, count);
  VectorBarrier();
  AscendC::Add(total.sum, total.sum, scaled_sum, count);
  VectorBarrier();
  return factors;
}

// The outputs of the same merge, for up to kOutputRows rows whose factors begin at `row`; the
// result goes where `result` is, which is one of the two.
__aicore__ inline void MergeOutputs(const Floats& result, const Floats& total, const Floats& part,
                                    const MergeFactors& factors, int64_t row,
                                    const MatrixShape& shape) {
  const Floats total_blocks = Ub<float, ub::kRowBlocks>(0);
  const Floats part_blocks = Ub<float, ub::kRowBlocks>(1);
  SpreadRows(total_blocks, factors.total[static_cast<uint32_t>(row)], shape.rows);
  SpreadRows(part_blocks, factors.part[static_cast<uint32_t>(row)], shape.rows);
  MultiplyRows(total, total_blocks, shape);
  MultiplyRows(part, part_blocks, shape);
  AscendC::Add(result, total, part, shape.elements());
  VectorBarrier();
}

template <typename T>
class RowFinisher {
 public:
  __aicore__ inline explicit RowFinisher(VectorContext<T>* context) : context_(*context) {}

  // Brings the sinks of this core's heads into UB.
  __aicore__ inline void Begin() const {
    if (!context_.tensors.has_sinks) {
      AscendC::Duplicate(Ub<float, ub::kSinks>(), kLowestFloat, static_cast<int32_t>(kVectorHeads));
      VectorBarrier();
      return;
    }
    LoadSinks(context_.own_heads);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(ub_event::kAccumulator);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(ub_event::kAccumulator);
  }

  // Of other heads, for Finish(); the caller keeps V and MTE2 apart.
  __aicore__ inline void LoadSinks(const HeadRange& heads) const {
    if (!context_.tensors.has_sinks || heads.count == 0) return;
    LoadElements(Ub<float, ub::kSinks>(),
                 context_.tensors.sinks[static_cast<uint64_t>(heads.first)], heads.count);
  }

  // Writes the outputs, and LSE if wanted, of heads `heads` of a row whose result is complete and
  // whose output lies in the accumulator from its first row on. Their sinks are in UB.
  __aicore__ inline void Finish(int64_t global_row, const HeadRange& heads,
                                const HeadStatistics& total) {
    const Floats factor = AddSinks(global_row, heads, total);
    const auto first =
        static_cast<uint64_t>((global_row * context_.heads + heads.first) * kHeadDim);
    for (int64_t row = 0; row < heads.count; row += kOutputRows) {
      const MatrixShape shape{LesserOf(kOutputRows, heads.count - row), kHeadDim};
      StoreRows(factor, row, shape, first + static_cast<uint64_t>(row * kHeadDim));
    }
  }

 private:
  // Returns what outputs are to be multiplied by. An infinite sink takes everything: it is a very
  // large number here, and infinite in the LSE.
  __aicore__ inline Floats AddSinks(int64_t global_row, const HeadRange& heads,
                                    const HeadStatistics& total) const {
    const auto count = static_cast<int32_t>(heads.count);
    const Floats sinks = Ub<float, ub::kSinks>();
    const Floats sink = Ub<float, ub::kHeadScratch>(kFirst);
    const Floats max = Ub<float, ub::kHeadScratch>(kSecond);
    const Floats keep = Ub<float, ub::kHeadScratch>(kThird);
    const Floats sum = Ub<float, ub::kHeadScratch>(kFourth);
    AscendC::Mins(sink, sinks, kHighestFloat, count);
    VectorBarrier();
    AscendC::Maxs(sink, sink, kLowestFloat, count);
    VectorBarrier();
    AscendC::Max(max, total.max, sink, count);
    VectorBarrier();
    AscendC::Sub(keep, total.max, max, count);
    AscendC::Sub(sink, sink, max, count);
    VectorBarrier();
    AscendC::Exp(keep, keep, count);
    AscendC::Exp(sink, sink, count);
    VectorBarrier();
    AscendC::Mul(sum, total.sum, keep, count);
    VectorBarrier();
    AscendC::Add(sum, sum, sink, count);
    VectorBarrier();
    AscendC::Div(keep, keep, sum, count);
    if (context_.call.return_softmax_lse) StoreLse(global_row, heads, total.max, sinks, sum);
    VectorBarrier();
    return keep;
  }

  __aicore__ inline void StoreLse(int64_t global_row, const HeadRange& heads, const Floats& max,
                                  const Floats& sinks, const Floats& sum) const {
    const auto count = static_cast<int32_t>(heads.count);
    const Floats lse = Ub<float, ub::kHeadScratch>(kFifth);
    const Floats logarithm = Ub<float, ub::kHeadScratch>(kFirst);
    AscendC::Max(lse, max, sinks, count);
    AscendC::Ln(logarithm, sum, count);
    VectorBarrier();
    AscendC::Add(lse, lse, logarithm, count);
    context_.HandToStore();
    const auto first = static_cast<uint64_t>(global_row * context_.heads + heads.first);
    StoreElements(context_.tensors.lse[first], lse, heads.count);
    context_.TakeFromStore();
  }

  __aicore__ inline void StoreRows(const Floats& factor, int64_t row, const MatrixShape& shape,
                                   uint64_t offset) {
    const Floats rows = AccumulatorRow(row);
    const Floats blocks = Ub<float, ub::kRowBlocks>();
    SpreadRows(blocks, factor[static_cast<uint32_t>(row)], shape.rows);
    MultiplyRows(rows, blocks, shape);
    context_.output.Acquire();
    const auto rounded = context_.output.template Buffer<T>();
    AscendC::Cast(rounded, rows, AscendC::RoundMode::CAST_RINT, shape.elements());
    context_.output.HandToStore();
    StoreElements(context_.tensors.out[offset], rounded, shape.rows * kHeadDim);
    context_.output.Release();
  }

  VectorContext<T>& context_;
};

}  // namespace sfmla::dav_2201
