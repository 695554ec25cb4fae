// SPDX-License-Identifier: Apache-2.0
// Runs a call of SparseFlashMla on emulated cores.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "op_kernel/common/schedule_words.h"
#include "sim/launch.h"
#include "tests/kernels/smla_case.h"

namespace sfmla::test {

struct SmlaLaunch {
  int groups = 1;
  int planned_cores = 1;                       // cube cores of the plan
  const SmlaCall* planned_for = nullptr;       // call that the plan was made for; nullptr: this one
  std::function<void(Schedule*)> change_plan;  // before the launch
  uint64_t seed = 0;
  sim::SlowActor slow;
  bool checks = true;
};

struct SmlaOutputs {
  sim::LaunchResult launch;
  std::vector<uint16_t> out;  // bits; (query rows, heads, kHeadDim)
  std::vector<float> lse;     // (query rows, heads)
};

// Outputs and workspace are NaN before the launch.
SmlaOutputs Launch(const SmlaCall& call, const SmlaLaunch& launch);

// Rows that a plan for so many cube cores splits.
int64_t SplitRowCount(const SmlaCall& call, int planned_cores);

}  // namespace sfmla::test
