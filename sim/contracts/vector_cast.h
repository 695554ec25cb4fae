// SPDX-License-Identifier: Apache-2.0
// Contract of Cast on dav-2201: which pairs of types exist, and with which rounding modes.
#pragma once

#include "sim/ascendc/types.h"
#include "sim/contracts/common.h"

namespace sfmla::sim {

// Types by name, as TypeName gives them; the table is that of vector_cast.h.
void CheckCast(const Call& call, const char* to, const char* from, AscendC::RoundMode mode);

}  // namespace sfmla::sim
