// SPDX-License-Identifier: Apache-2.0
// Contract of Brcb on dav-2201.
#pragma once

#include "sim/contracts/common.h"

namespace sfmla::sim {

// Both in UB at multiples of 32 B, inside their tensors, without a byte in common.
void CheckBroadcast(const Call& call, const Argument& dst, const Argument& src, const Access& write,
                    const Access& read);

}  // namespace sfmla::sim
