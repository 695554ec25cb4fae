// SPDX-License-Identifier: Apache-2.0
#include "sim/launch.h"

#include <exception>

#include "base/format.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"
#include "sim/launch_state.h"
#include "sim/report.h"
#include "sim/scheduler.h"

namespace sfmla::sim {

namespace {

std::string CheckConfig(const LaunchConfig& config) {
  const ChipMemory* chip = FindChipMemory(config.architecture);
  if (chip == nullptr)
    return Str("launch: architecture ", config.architecture, ", must be 2201 or 3510");
  if (config.groups < 1 || config.groups > chip->max_groups) {
    return Str("launch: ", config.groups, " groups, must be 1..", chip->max_groups);
  }
  return {};
}

void RunCores(LaunchState* state, const std::function<void()>& kernel, LaunchResult* result) {
  try {
    for (const auto& core : state->cores) core->Start(kernel);
    Scheduler(*state).Run();
  } catch (const SimFault& fault) {
    result->fault = fault.what();
  } catch (const std::exception& error) {
    result->fault = Str("the kernel threw: ", error.what());
  }
  result->instructions = state->instructions;
  result->ticks = state->ticks;
  if (result->ok()) return;
  result->details = StateText(*state);
  for (const auto& core : state->cores) core->Unwind();
}

}  // namespace

LaunchResult LaunchKernel(const LaunchConfig& config, const std::function<void()>& kernel,
                          std::span<const GmRange> ranges) {
  LaunchResult result;
  result.fault = CheckConfig(config);
  if (!result.ok()) return result;
  LaunchState state(config, *FindChipMemory(config.architecture), ranges);
  result.fault = state.gm.OverlapText();
  if (result.ok()) RunCores(&state, kernel, &result);
  return result;
}

}  // namespace sfmla::sim
