// SPDX-License-Identifier: Apache-2.0
// The Ascend C kernel of SparseFlashMla against its definition, and against itself: the same bits
// on any number of cores, under any plan, in whatever order pipes and cores run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "tests/kernels/smla_cases.h"
#include "tests/kernels/smla_launch.h"
#include "tests/kernels/smla_oracle.h"

namespace sfmla::test {
namespace {

SmlaOutputs LaunchWithoutFault(const SmlaCall& call, const SmlaLaunch& launch) {
  SmlaOutputs found = Launch(call, launch);
  CAPTURE(call.call().name);
  CAPTURE(launch.groups);
  CAPTURE(launch.seed);
  INFO(found.launch.details);
  REQUIRE(found.launch.fault == "");
  return found;
}

void CheckAgainstOracle(const SmlaCase& call, const SmlaLaunch& launch) {
  const SmlaCall made(call);
  const SmlaOutputs found = LaunchWithoutFault(made, launch);
  CAPTURE(call.name);
  CHECK(Difference(made, found.out, found.lse) == "");
}

void CheckSameBits(const SmlaCall& call, const SmlaOutputs& expected, const SmlaLaunch& launch) {
  const SmlaOutputs found = LaunchWithoutFault(call, launch);
  CAPTURE(call.call().name);
  CAPTURE(launch.groups);
  CAPTURE(launch.seed);
  CHECK(found.out == expected.out);
  if (call.call().returns_lse) CHECK(found.lse == expected.lse);
}

TEST_CASE("a decode step of each mode equals the oracle") {
  for (const SmlaCase& call : DecodeCases()) CheckAgainstOracle(call, {});
}

TEST_CASE("layouts, strides, masks, lists, head counts and odd rows equal the oracle") {
  for (const SmlaCase& call : UnusualCases()) CheckAgainstOracle(call, {});
}

TEST_CASE("rows of several chunks equal the oracle") {
  for (const SmlaCase& call : LongCases()) CheckAgainstOracle(call, {});
}

SmlaLaunch OnGroups(int groups, int planned_cores, uint64_t seed = 0) {
  SmlaLaunch launch;
  launch.groups = groups;
  launch.planned_cores = planned_cores;
  launch.seed = seed;
  return launch;
}

TEST_CASE("the number of cores and the plan change no bit") {
  for (const auto& cases : {DecodeCases(), LongCases()}) {
    for (const SmlaCase& call : cases) {
      const SmlaCall made(call);
      const SmlaOutputs expected = LaunchWithoutFault(made, {});
      for (const int cores : {2, 5, 24}) {
        CheckSameBits(made, expected, OnGroups(cores, cores));
      }
      CheckSameBits(made, expected, OnGroups(3, 36));
    }
  }
}

TEST_CASE("a plan that guessed other lengths changes no bit") {
  SmlaCase call = DecodeCase("guessed", {{1, -1, 5200, 1300, 0}, {1, -1, 700, 175, 0}}, 4, 1200);
  call.rules.ori_mask = MaskMode::kCausal;
  call.rules.window_left = call.rules.window_right = kUnlimitedWindow;
  const SmlaCall made(call);
  const SmlaOutputs expected = LaunchWithoutFault(made, {});
  for (SmlaRequest& request : call.requests) {
    std::swap(request.ori_tokens, request.cmp_tokens);
    const SmlaCall other(call);
    for (const int cores : {2, 7, 24}) {
      SmlaLaunch launch = OnGroups(3, cores);
      launch.planned_for = &other;
      CheckSameBits(made, expected, launch);
    }
  }
}

TEST_CASE("whichever vector cores merge which heads, the bits are the same") {
  for (const SmlaCase& call : LongCases()) {
    const SmlaCall made(call);
    const SmlaOutputs expected = LaunchWithoutFault(made, {});
    SmlaLaunch launch = OnGroups(3, 24);
    launch.change_plan = [](Schedule* plan) {
      std::reverse(plan->vector.begin(), plan->vector.end());
    };
    CheckSameBits(made, expected, launch);
    // One core merges all heads of a row, in pieces.
    launch.change_plan = [&](Schedule* plan) {
      for (VectorRecord& record : plan->vector) {
        if (record.head_start > 0) record = VectorRecord{};
        record.head_count = record.enable * static_cast<uint32_t>(made.heads());
      }
    };
    CheckSameBits(made, expected, launch);
  }
}

TEST_CASE("heads of a split row that no vector record names are not merged") {
  const SmlaCall made(LongCases()[1]);
  const SmlaOutputs expected = LaunchWithoutFault(made, {});
  VectorRecord dropped{};
  SmlaLaunch launch = OnGroups(2, 24);
  launch.change_plan = [&](Schedule* plan) { std::swap(plan->vector[1], dropped); };
  const SmlaOutputs found = LaunchWithoutFault(made, launch);
  REQUIRE(dropped.request == 0);
  REQUIRE(dropped.row == 0);
  REQUIRE(dropped.head_count > 0);
  for (size_t head = 0; head < static_cast<size_t>(made.heads()); ++head) {
    CAPTURE(head);
    const bool is_dropped = head - dropped.head_start < dropped.head_count;
    CHECK(std::isnan(found.lse[head]) == is_dropped);
    const bool is_same = found.out[head * kHeadDim] == expected.out[head * kHeadDim];
    CHECK(is_same == !is_dropped);
  }
}

TEST_CASE("long rows are split between cores") {
  for (const SmlaCase& call : LongCases()) {
    CAPTURE(call.name);
    CHECK(SplitRowCount(SmlaCall(call), 24) > 0);
  }
}

TEST_CASE("the order of pipes and cores changes no bit") {
  for (const auto& cases : {DecodeCases(), LongCases()}) {
    for (const SmlaCase& call : cases) {
      const SmlaCall made(call);
      const SmlaOutputs expected = LaunchWithoutFault(made, {});
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        CheckSameBits(made, expected, OnGroups(2, 3, seed));
      }
    }
  }
}

TEST_CASE("a slow pipe or core changes no bit") {
  using Kind = sim::SlowActor::Kind;
  const SmlaCall made(DecodeCases()[5]);
  const SmlaOutputs expected = LaunchWithoutFault(made, {});
  std::vector<sim::SlowActor> actors;
  for (const sim::Pipe pipe : {sim::Pipe::kS, sim::Pipe::kV, sim::Pipe::kM, sim::Pipe::kMte1,
                               sim::Pipe::kMte2, sim::Pipe::kMte3, sim::Pipe::kFix}) {
    actors.push_back({Kind::kPipe, pipe, 0});
  }
  for (int core = 0; core < 3; ++core) actors.push_back({Kind::kCore, sim::Pipe::kS, core});
  for (const sim::SlowActor& actor : actors) {
    SmlaLaunch launch = OnGroups(1, 1, 7);
    launch.slow = actor;
    CheckSameBits(made, expected, launch);
  }
}

TEST_CASE("without checks the bits are the same") {
  for (const SmlaCase& call : DecodeCases()) {
    const SmlaCall made(call);
    SmlaLaunch launch = OnGroups(2, 2);
    launch.checks = false;
    CheckSameBits(made, LaunchWithoutFault(made, {}), launch);
  }
}

TEST_CASE("a needed page that does not exist is a fault") {
  for (const int32_t page : {-1, 50, 1000, INT32_MAX}) {
    for (const int cmp_topk : {0, 512}) {
      SmlaCall made(DecodeCase("CSA", {{1, -1, 3000, 750, 0}}, 4, cmp_topk));
      REQUIRE(made.Geometry(true).outer_extent == 48);  // 750 tokens on pages of 16, and one more
      made.inputs().cmp_block_table[3] = page;
      for (const bool checks : {true, false}) {
        SmlaLaunch launch;
        launch.checks = checks;
        const SmlaOutputs found = Launch(made, launch);
        CAPTURE(page);
        CAPTURE(checks);
        const std::string entry = Str("cmp_block_table[0, 3]: page ", page, ", must be in [0, 48)");
        CHECK(found.launch.fault.find(entry) != std::string::npos);
      }
    }
  }
}

TEST_CASE("pages that no row needs may be missing") {
  SmlaCall made(DecodeCase("window", {{1, -1, 400, 0, 0}}));
  // The window of 128 tokens begins on page 17.
  for (size_t column = 0; column < 17; ++column) made.inputs().ori_block_table[column] = -5;
  const SmlaOutputs found = LaunchWithoutFault(made, {});
  CHECK(Difference(made, found.out, found.lse) == "");
}

TEST_CASE("the output for LSE is left alone where nobody wants it") {
  SmlaCase call = DecodeCases()[0];
  call.returns_lse = false;
  const SmlaCall made(call);
  for (const float value : LaunchWithoutFault(made, {}).lse) CHECK(std::isnan(value));
}

}  // namespace
}  // namespace sfmla::test
