// SPDX-License-Identifier: Apache-2.0
#include "sim/contracts/vector_broadcast.h"

#include "sim/intrinsics/lanes.h"

namespace sfmla::sim {

void CheckBroadcast(const Call& call, const Argument& dst, const Argument& src, const Access& write,
                    const Access& read) {
  RequireSpace(call, dst, {Space::kUb});
  RequireSpace(call, src, {Space::kUb});
  RequireAligned(call, dst, kBlockBytes);
  RequireAligned(call, src, kBlockBytes);
  RequireInside(call, dst, write);
  RequireInside(call, src, read);
  if (Overlap(write, read)) Refuse(call, "dst: shares bytes with src0, must not");
}

}  // namespace sfmla::sim
