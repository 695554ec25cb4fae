// SPDX-License-Identifier: Apache-2.0
// Contracts of LoadData on dav-2201.
#pragma once

#include "sim/ascendc/parameters.h"
#include "sim/contracts/common.h"
#include "sim/intrinsics/load_data.h"
#include "sim/scalar_state.h"

namespace sfmla::sim {

// L1 at 32 B to L0A or L0B at 512 B, with all bytes inside the tensors.
void CheckLoad(const Call& call, const Argument& dst, const Argument& src, const Access& write,
               const Access& read);

// sid is reserved, addrMode 0 or 1, transposition for 2-byte elements only.
void CheckLoad2d(const Call& call, const AscendC::LoadData2DParams& params, int64_t element_bytes);

// Only moves of a matrix: filter, stride and dilation 1, padding below only, no transposition to
// L0A; extensions and starts on fractal borders and inside the matrix; 2-byte types to L0B. A call
// that leaves a register must not name another value than the register has. `before` and `after`
// are the registers around the call.
void CheckLoad3d(const Call& call, const Load3dCall& load, const ScalarState::Load3d& before,
                 const ScalarState::Load3d& after, bool to_l0b);

}  // namespace sfmla::sim
