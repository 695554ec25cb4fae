// SPDX-License-Identifier: Apache-2.0
// What SFMLA_CHECK=strict adds: device memory is out of reach of the host except while work or a
// copy uses it, lies between red zones, and begins as NaN. Without it everything here does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "runtime/stream.h"

namespace sfmla {

bool IsStrict();

// Device memory can be read and written while any object of this class lives, in any thread.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

// Pages with red zones around `bytes`, which are filled with 0xFF; nullptr if there are none. Needs
// a DeviceAccess until the block is registered.
void* ReserveFenced(size_t bytes);
void ReleaseFenced(void* pointer, size_t bytes);

// 507015 and a sentence that begins with `what` if the red zones of the allocation that holds
// `address` were written; the zones are repaired. Needs a DeviceAccess.
Status CheckRedZones(const char* what, const void* address);

// One line on standard error each.
// The allocation that begins at `pointer`: written red zones, and queued work that may write it.
void WarnBeforeFree(const void* pointer);
// Queued work that may write what a copy is about to read.
void WarnBeforeRead(const void* address, size_t bytes);

}  // namespace sfmla
