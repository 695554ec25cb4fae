// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/vector_reduce.h"

#include <algorithm>

namespace sfmla::sim {

void CheckReduce(const Call& call, const ReducePlan& plan, int64_t repeats) {
  RequireRange(call, "repeatTime", repeats, 0, UINT8_MAX);
  RequireRange(call, "dstRepStride", plan.dst_repeat_stride, 0, UINT16_MAX);
  RequireRange(call, "srcBlkStride", plan.src_block_stride, 0, UINT16_MAX);
  RequireRange(call, "srcRepStride", plan.src_repeat_stride, 0, UINT16_MAX);
}

void CheckReduceOperands(const Call& call, const Argument& dst, const Argument& src,
                         const ReducePlan& plan, const std::vector<Access>& accesses) {
  RequireSpace(call, dst, {Space::kUb});
  RequireSpace(call, src, {Space::kUb});
  RequireAligned(call, src, kBlockBytes);
  RequireAligned(call, dst, static_cast<uint64_t>(std::min(RoundResultBytes(plan), kBlockBytes)));
  for (const Access& access : accesses) {
    RequireInside(call, access.writes() ? dst : src, access);
    if (&access != &accesses[0] && Overlap(accesses[0], access)) {
      Refuse(call, "dst: shares bytes with src, must not");
    }
  }
}

}  // namespace sfmla::sim
