// SPDX-License-Identifier: Apache-2.0
// What kernels include. CANN's header of this name declares the same API for its compiler; this one
// implements the subset that docs/emulator.md lists, on emulated cores.
#pragma once

#include "sim/ascendc/keywords.h"
//
#include "sim/ascendc/kernel_info.h"
#include "sim/ascendc/parameters.h"
#include "sim/ascendc/sync.h"
#include "sim/ascendc/tensors.h"
#include "sim/ascendc/tpipe.h"
#include "sim/ascendc/tque.h"
#include "sim/ascendc/types.h"
#include "sim/intrinsics/intrinsics.h"
