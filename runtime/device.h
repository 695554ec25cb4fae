// SPDX-License-Identifier: Apache-2.0
// What planning may ask about the current device.
#pragma once

#include <cstdint>

#include "base/soc.h"

namespace sfmla {

struct CoreCounts {
  int32_t cube = 0;
  int32_t vector = 0;
};

// Traits of the device current on this thread (of device 0 when there is none: planning needs no
// context).
const SocTraits& CurrentSoc();

// Core counts phase one plans for: those of the device, or the smaller limit that
// aclrtSetDeviceResLimit set.
CoreCounts PlanningCores();

}  // namespace sfmla
