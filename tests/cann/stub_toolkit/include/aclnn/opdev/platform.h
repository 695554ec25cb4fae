// SPDX-License-Identifier: Apache-2.0
// Stub: what the current device is.
#pragma once

#include <cstdint>

namespace op {

class PlatformInfo {
 public:
  uint32_t GetCubeCoreNum() const;
  uint32_t GetVectorCoreNum() const;
};

const PlatformInfo& GetCurrentPlatformInfo();

}  // namespace op
