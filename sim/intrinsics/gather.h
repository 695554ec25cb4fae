// SPDX-License-Identifier: Apache-2.0
// Gather on PIPE_V: elements of UB picked by byte offsets that lie in UB themselves.
#pragma once

#include <cstdint>

#include "sim/intrinsics/vector_call.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// dst[lane] = element at byte base + offsets[lane] of src, for the active lanes. Offsets lie behind
// each other, 4 B each; dst's rounds dst_repeat_stride blocks apart.
struct GatherPlan {
  Lanes lanes;
  int64_t element_bytes = 0;
  int64_t base = 0;
  LaneStrides dst_strides;
};

void IssueGather(const Call& call, const LaneChoice& choice, const Operand& dst, const Operand& src,
                 const Operand& offsets, GatherPlan plan);

template <typename T>
void StartGather(const SourceLocation& where, const LaneChoice& choice,
                 const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                 const AscendC::LocalTensor<uint32_t>& offsets, uint32_t base,
                 int64_t dst_repeat_stride) {
  const Call call{"Gather", Pipe::kV, where};
  RequireType<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t>(call, "dst");
  IssueGather(call, choice, OperandOf(dst), OperandOf(src), OperandOf(offsets),
              {{}, sizeof(T), base, {1, dst_repeat_stride}});
}

}  // namespace sfmla::sim

namespace AscendC {

// Offsets must be multiples of sizeof(T) and stay inside src; what they name is known only when the
// instruction runs, so until then it counts as reading all of src.
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
            sfmla::sim::U32 count, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartGather(where, sfmla::sim::CountLanes(count), dst, src, srcOffset, srcBaseAddr,
                          sfmla::sim::kBlocksPerRepeat);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr, const uint64_t mask,
            sfmla::sim::U8 repeatTime, sfmla::sim::U16 dstRepStride,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartGather(where,
                          sfmla::sim::LeadingLanes<true>(static_cast<int64_t>(mask), repeatTime),
                          dst, src, srcOffset, srcBaseAddr, dstRepStride);
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
            const uint64_t mask[], sfmla::sim::U8 repeatTime, sfmla::sim::U16 dstRepStride,
            const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::StartGather(where, sfmla::sim::BitLanes<true>(mask, repeatTime), dst, src, srcOffset,
                          srcBaseAddr, dstRepStride);
}

}  // namespace AscendC
