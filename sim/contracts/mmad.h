// SPDX-License-Identifier: Apache-2.0
// Contracts of Mmad on dav-2201.
#pragma once

#include "sim/ascendc/parameters.h"
#include "sim/contracts/common.h"

namespace sfmla::sim {

// m, n, k 0..4095; unitFlag 0, 2 or 3; no bias, sparsity, Winograd or offset.
void CheckMmad(const Call& call, const AscendC::MmadParams& params);

// C in L0C at a multiple of 1024 B, A in L0A and B in L0B at multiples of 512 B, whole fractals
// inside the tensors: `accesses` are those of dst, fm and filter.
void CheckMmadOperands(const Call& call, const Argument& dst, const Argument& left,
                       const Argument& right, const std::vector<Access>& accesses);

}  // namespace sfmla::sim
