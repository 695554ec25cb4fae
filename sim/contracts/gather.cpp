// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/gather.h"

namespace sfmla::sim {

void CheckGather(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& vectors,
                 const Argument& src, const Access& read, const std::vector<Access>& accesses) {
  CheckVector(call, lanes, vectors, accesses, OverlapRule::kSameOrApart);
  RequireSpace(call, src, {Space::kUb});
  RequireAligned(call, src, kBlockBytes);
  for (const Access& access : accesses) {
    if (access.writes() && Overlap(access, read)) {
      Refuse(call, "dst: shares bytes with src, must not");
    }
  }
}

void CheckGathered(const Call& call, uint64_t offset, int64_t element_bytes, const Operand& src) {
  const auto bytes = static_cast<uint64_t>(element_bytes);
  if (offset % bytes != 0) {
    Refuse(call, "srcOffset: ", offset, ", must be a multiple of ", bytes);
  }
  if (offset + bytes > src.bytes) {
    Refuse(call, "srcOffset: ", offset, ", src has ", src.bytes, " bytes");
  }
}

}  // namespace sfmla::sim
