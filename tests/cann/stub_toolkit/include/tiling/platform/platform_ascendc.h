// SPDX-License-Identifier: Apache-2.0
// Stub: PlatformAscendC of CANN's manual.
#pragma once

#include <cstdint>

namespace fe {
class PlatFormInfos;
}  // namespace fe

namespace platform_ascendc {

class PlatformAscendC {
 public:
  PlatformAscendC() = delete;
  explicit PlatformAscendC(fe::PlatFormInfos* platform);
  uint32_t GetCoreNumAic(void) const;
  uint32_t GetCoreNumAiv(void) const;
  uint32_t GetLibApiWorkSpaceSize(void) const;
};

}  // namespace platform_ascendc
