// SPDX-License-Identifier: Apache-2.0
#include "sim/launch_state.h"

#include <exception>

#include "base/format.h"
#include "sim/emulated_core.h"

namespace sfmla::sim {

namespace {

struct GroupShape {
  int cubes;
  int vectors;
};

GroupShape ShapeOf(KernelType type) {
  switch (type) {
    case KernelType::kAivOnly:
    case KernelType::kMixAiv1_0:
      return {0, 1};
    case KernelType::kAicOnly:
    case KernelType::kMixAic1_0:
      return {1, 0};
    case KernelType::kMixAic1_1:
      return {1, 1};
    default:
      return {1, 2};
  }
}

std::vector<CoreInfo> MakeInfos(const LaunchConfig& config) {
  const GroupShape shape = ShapeOf(config.type);
  std::vector<CoreInfo> infos;
  const auto add = [&](CoreKind kind, int group, int block, int sub_block) {
    const char* name = kind == CoreKind::kCube ? "AIC" : "AIV";
    infos.push_back({kind, static_cast<int>(infos.size()), group, block, sub_block, shape.vectors,
                     Str(name, block)});
  };
  for (int group = 0; group < config.groups; ++group) {
    if (shape.cubes != 0) add(CoreKind::kCube, group, group, 0);
    for (int i = 0; i < shape.vectors; ++i) {
      add(CoreKind::kVector, group, group * shape.vectors + i, i);
    }
  }
  return infos;
}

std::vector<const CoreInfo*> Pointers(const std::vector<CoreInfo>& infos) {
  std::vector<const CoreInfo*> pointers;
  for (const CoreInfo& info : infos) pointers.push_back(&info);
  return pointers;
}

}  // namespace

LaunchState::LaunchState(const LaunchConfig& launch_config, const ChipMemory& launch_chip,
                         std::span<const GmRange> ranges)
    : config(launch_config),
      chip(launch_chip),
      infos(MakeInfos(launch_config)),
      components(infos.size() * kComponents),
      gm(ranges),
      written_gm(gm),
      gm_log(AccessLog::Gm()),
      cross(Pointers(infos)),
      random(launch_config.seed),
      exceptions_before(std::uncaught_exceptions()) {
  for (const CoreInfo& info : infos) {
    cores.push_back(std::make_unique<EmulatedCore>(*this, info));
    if (config.trace != nullptr) config.trace->NameCore(info.index, info.label);
  }
}

LaunchState::~LaunchState() = default;

}  // namespace sfmla::sim
