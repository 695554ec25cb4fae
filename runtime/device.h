// SPDX-License-Identifier: Apache-2.0
// The device, and what planning may ask about it.
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"
#include "base/kernel_call.h"
#include "base/soc.h"
#include "base/status.h"

namespace sfmla {

// Devices there are, and those that ASCEND_RT_VISIBLE_DEVICES leaves.
inline constexpr int32_t kDeviceCount = 1;
int32_t VisibleDeviceCount();

struct CoreCounts {
  int32_t cube = 0;
  int32_t vector = 0;
};

// What kind of device this process has; the CPU when the settings are wrong, which every call that
// makes a context refuses.
DeviceKind CurrentDeviceKind();

// Traits of the device current on this thread (of device 0 when there is none: planning needs no
// context).
const SocTraits& CurrentSoc();

// Core counts phase one plans for: those of the device, or the smaller limit that
// aclrtSetDeviceResLimit set.
CoreCounts PlanningCores();

// 107001 with a sentence that begins with `name` unless there is such a device.
Status CheckDevice(const char* name, int64_t device);

// The cap on cores of one type; PlanningCores reads it.
Status SetCoreLimit(int32_t device, aclrtDevResLimitType type, uint32_t cores);
Result<uint32_t> CoreLimit(int32_t device, aclrtDevResLimitType type);
void ClearCoreLimits(int32_t device);

// A fact about a device. 207000: the device has no such thing.
Result<int64_t> DeviceFact(int32_t device, aclrtDevAttr attribute);

}  // namespace sfmla
