// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/common/device_tiling.h"

#include <doctest/doctest.h>

namespace sfmla {
namespace {

AttentionRules Rules(int32_t heads, int64_t cmp_topk) {
  AttentionRules rules;
  rules.heads = heads;
  rules.has_ori = 1;
  rules.has_cmp = cmp_topk > 0;
  rules.cmp_topk = cmp_topk;
  return rules;
}

TEST_CASE("slices of the device workspace follow each other without overlap") {
  const DeviceWorkspace plan = PlanDeviceWorkspace(Rules(128, 512), 24, 64, 1000);
  CHECK(plan.scores == 1024);  // the first multiple of 512 behind 1000
  // Bytes per group, by hand: 2 x 128 x 512 x 4, 2 x 128 x 512 x 2, 2 x 128 x 512 x 4, 3 x 512 x
  // 1024, 128 x 512 x 4.
  CHECK(plan.probabilities == plan.scores + 24 * 524288);
  CHECK(plan.values == plan.probabilities + 24 * 262144);
  CHECK(plan.keys == plan.values + 24 * 524288);
  CHECK(plan.totals == plan.keys + 24 * 1572864);
  CHECK(plan.partials == plan.totals + 24 * 262144);
  CHECK(plan.bytes == plan.partials + 64 * (2 * 128 + 128 * 512) * 4);
}

TEST_CASE("a call without lists has no slice for gathered keys") {
  const DeviceWorkspace plan = PlanDeviceWorkspace(Rules(1, 0), 36, 0, 0);
  CHECK(plan.totals == plan.keys);
  CHECK(plan.bytes == plan.partials);
}

TEST_CASE("a workspace for the largest calls is far from 32 bits and still exact") {
  const int64_t first = int64_t{1} << 40;
  const DeviceWorkspace plan = PlanDeviceWorkspace(Rules(128, 8192), 36, 64, first);
  CHECK(plan.scores == first);
  CHECK(plan.bytes - first == PlanDeviceWorkspace(Rules(128, 8192), 36, 64, 0).bytes);
}

}  // namespace
}  // namespace sfmla
