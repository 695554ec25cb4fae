// SPDX-License-Identifier: Apache-2.0
// What the cores of one launch share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sim/access_log.h"
#include "sim/chip_memory.h"
#include "sim/cross_flags.h"
#include "sim/gm_map.h"
#include "sim/launch.h"
#include "sim/random.h"
#include "sim/site_table.h"
#include "sim/trace.h"
#include "sim/written_gm.h"

namespace sfmla::sim {

class EmulatedCore;

struct LaunchState {
  LaunchState(const LaunchConfig& launch_config, const ChipMemory& launch_chip,
              std::span<const GmRange> ranges);
  ~LaunchState();

  bool program_order() const { return config.seed == 0; }
  const CoreInfo& InfoOf(uint16_t component) const {
    return infos[static_cast<size_t>(CoreOf(component))];
  }

  const LaunchConfig& config;
  const ChipMemory& chip;
  const std::vector<CoreInfo> infos;  // by CoreInfo::index
  const size_t components;
  GmMap gm;
  WrittenGm written_gm;
  AccessLog gm_log;
  SiteTable sites;
  CrossFlags cross;
  Random random;
  std::vector<std::unique_ptr<EmulatedCore>> cores;
  const int exceptions_before;  // in flight on this thread when the launch began
  uint64_t instructions = 0;
  uint64_t ticks = 0;
};

}  // namespace sfmla::sim
