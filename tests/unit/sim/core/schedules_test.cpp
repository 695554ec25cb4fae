// SPDX-License-Identifier: Apache-2.0
// Schedules, deadlocks, ends of launches, traces.
#include <sstream>
#include <thread>

#include "sim/trace.h"
#include "unit/sim/core/tiny_kernel.h"

namespace sfmla::sim::test {
namespace {

// Four independent copies by way of UB.
void FourCopies(Buffers& buffers) {
  if ASCEND_IS_AIC
    return;
  const auto core = static_cast<uint32_t>(AscendC::GetBlockIdx());
  for (uint32_t i = 0; i < 4; ++i) {
    const auto id = static_cast<int32_t>(i);
    Copy<Pipe::kMte2>(Ub(256 * i), buffers.In()[64 * i], 256);
    AscendC::SetFlag<HardEvent::MTE2_MTE3>(id);
    AscendC::WaitFlag<HardEvent::MTE2_MTE3>(id);
    Copy<Pipe::kMte3>(buffers.Out()[256 * core + 64 * i], Ub(256 * i), 256);
  }
}

std::string Order(uint64_t seed, SlowActor slow = {}) {
  Buffers buffers;
  ChromeTrace trace;
  LaunchConfig config;
  config.groups = 2;
  config.trace = &trace;
  config.slow = slow;
  CHECK(LaunchKernel(Seeded(config, seed), [&] { FourCopies(buffers); }, buffers.Ranges()).ok());
  std::string order;
  for (const TraceEvent& event : trace.events()) {
    if (std::string(event.name) != "Copy") continue;
    order += std::to_string(event.core) + PipeName(event.pipe) + " ";
  }
  return order;
}

TEST_CASE("the same seed gives the same run, other seeds give others") {
  for (const uint64_t seed : {0, 1, 2, 3}) CHECK(Order(seed) == Order(seed));
  CHECK(Order(1) != Order(2));
  CHECK(Order(0) != Order(1));
  // Core 1, the first vector core, runs alone and in turn.
  CHECK(Order(0).substr(0, 36) == "1MTE2 1MTE3 1MTE2 1MTE3 1MTE2 1MTE3 ");
}

TEST_CASE("a slow pipe or core comes last wherever it may") {
  for (const uint64_t seed : {1, 2, 3}) {
    const std::string pipe = Order(seed, {SlowActor::Kind::kPipe, Pipe::kMte3, 0});
    CHECK(pipe.find("MTE3") > pipe.rfind("MTE2"));
    const std::string core = Order(seed, {SlowActor::Kind::kCore, Pipe::kS, 4});
    CHECK(core.find("4MTE2") > core.rfind("5MTE3"));
  }
}

TEST_CASE("a full queue stops the program, not the other pipes") {
  Buffers buffers;
  LaunchConfig config = OneVector();
  config.slow = {SlowActor::Kind::kPipe, Pipe::kMte2, 0};
  const auto kernel = [&] {
    for (uint32_t i = 0; i < 100; ++i) Copy<Pipe::kMte2>(Ub(256 * i), buffers.In(), 256);
  };
  const LaunchResult result = LaunchKernel(Seeded(config, 5), kernel, buffers.Ranges());
  CHECK(result.fault == "");
  CHECK(result.instructions == 100);
}

TEST_CASE("a deadlock says who waits for what") {
  ExpectVerdict(
      OneVector(),
      [](Buffers& b) {
        AscendC::WaitFlag<HardEvent::V_MTE2>(3);
        Copy<Pipe::kMte2>(Ub(0), b.In(), 32);
      },
      {"deadlock: 1 cores cannot go on; AIV0 waits at kernel end until all pipes are empty",
       "behind WaitFlag at schedules_test.cpp:", "for V_MTE2 flag 3"});
  LaunchConfig config;
  config.groups = 2;
  const auto kernel = [](Buffers&) {
    // The first group's cube core never answers.
    if ASCEND_IS_AIC {
      if (AscendC::GetBlockIdx() == 1) AscendC::CrossCoreSetFlag<2, PIPE_FIX>(9);
    } else {
      AscendC::CrossCoreWaitFlag(9);
    }
  };
  ExpectVerdict(config, kernel,
                {"deadlock: 2 cores cannot go on; AIV0 waits in CrossCoreWaitFlag at "
                 "schedules_test.cpp:",
                 "for cross-core flag 9"});
  Buffers buffers;
  const LaunchResult result = LaunchKernel(config, [&] { kernel(buffers); }, buffers.Ranges());
  CHECK(result.details.find("AIV1: waits in CrossCoreWaitFlag") != std::string::npos);
}

TEST_CASE("a flag may be waited for before it is set, as pipes run apart") {
  ExpectVerdict(OneVector(),
                [](Buffers& b) {
                  AscendC::WaitFlag<HardEvent::V_MTE2>(0);
                  Copy<Pipe::kMte2>(Ub(0), b.In(), 32);
                  AscendC::SetFlag<HardEvent::V_MTE2>(0);
                },
                {});
}

// Counts living objects, to see that the stacks of a faulty launch are unwound.
struct Counted {
  explicit Counted(int* living) : count(living) { ++*count; }
  ~Counted() {
    --*count;
    // A destructor may well issue something; during a fault nothing comes of it.
    AscendC::SetFlag<HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<HardEvent::MTE2_V>(0);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int* count;
};

TEST_CASE("a fault unwinds every core, and the next launch works") {
  int alive = 0;
  LaunchConfig config;
  config.groups = 2;
  ExpectVerdict(config,
                [&](Buffers& b) {
                  if ASCEND_IS_AIC
                    return;
                  const std::vector<int> heap(1000);
                  const Counted counted(&alive);
                  AscendC::TPipe pipe;
                  if (AscendC::GetBlockIdx() == 3) Copy<Pipe::kMte3>(b.Out(), Ub(0), 32);
                  AscendC::CrossCoreWaitFlag(0);
                },
                {"AIV3 MTE3 Copy"});
  CHECK(alive == 0);
  ExpectVerdict(config, FourCopies, {});
}

TEST_CASE("without checks the results are the same") {
  LaunchConfig config;
  config.groups = 2;
  config.checks = false;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Buffers buffers;
    CHECK(LaunchKernel(Seeded(config, seed), [&] { FourCopies(buffers); }, buffers.Ranges()).ok());
    for (int32_t i = 0; i < 1024; ++i) CHECK(buffers.out->values[i] == i % 256);
  }
}

TEST_CASE("threads may launch at the same time") {
  const auto launch = [] {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      Buffers buffers;
      LaunchConfig config;
      config.groups = 2;
      const LaunchResult result =
          LaunchKernel(Seeded(config, seed), [&] { FourCopies(buffers); }, buffers.Ranges());
      CHECK(result.ok());
    }
  };
  std::thread other(launch);
  launch();
  other.join();
}

TEST_CASE("exceptions of the kernel end the launch, not the process") {
  ExpectVerdict(OneVector(), [](Buffers&) { throw std::runtime_error("oops"); },
                {"the kernel threw: oops"});
}

TEST_CASE("registers must be left as they were found") {
  ExpectVerdict(OneVector(),
                [](Buffers&) { CurrentCore().scalar_state().atomic = ScalarState::Atomic::kAdd; },
                {"AIV0 kernel end: atomic mode is on"});
  ExpectVerdict(OneVector(), [](Buffers&) { CurrentCore().scalar_state().counter_mode = true; },
                {"AIV0 kernel end: mask mode is COUNTER"});
}

TEST_CASE("launches that cannot be are refused") {
  Buffers buffers;
  LaunchConfig config;
  config.groups = 37;
  CHECK(LaunchKernel(config, [] {}, {}).fault == "launch: 37 groups, must be 1..36");
  std::vector<GmRange> ranges = buffers.Ranges();
  ranges[1].address = buffers.in->values + 5;
  config.groups = 1;
  CHECK(LaunchKernel(
            config, [] {}, ranges)
            .fault == "GM ranges in and out overlap, ranges of a launch must be disjoint");
  ExpectVerdict(OneVector(), [](Buffers&) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); },
                {"kernel type 5, the launch has 0"});
}

TEST_CASE("a trace has a track per core and pipe, in program time") {
  Buffers buffers;
  ChromeTrace trace;
  LaunchConfig config = OneVector();
  config.trace = &trace;
  CHECK(LaunchKernel(config, [&] { FourCopies(buffers); }, buffers.Ranges()).ok());
  std::ostringstream out;
  trace.Write(out);
  const std::string text = out.str();
  CHECK(text.find(R"("name":"process_name","pid":1,"tid":11,"args":{"name":"AIV0"})") !=
        std::string::npos);
  CHECK(text.find(R"("name":"Copy","pid":1,"tid":15,"ts":1,"dur":1)") != std::string::npos);
  // The first copy out waits for the first copy in, the second copy in does not wait.
  const auto begin = [&](Pipe pipe, int index) {
    for (const TraceEvent& event : trace.events()) {
      if (event.pipe == pipe && std::string(event.name) == "Copy" && index-- == 0) {
        return event.begin_ticks;
      }
    }
    return uint64_t{0};
  };
  CHECK(begin(Pipe::kMte2, 0) < begin(Pipe::kMte3, 0));
  CHECK(begin(Pipe::kMte2, 1) > begin(Pipe::kMte2, 0));
}

}  // namespace
}  // namespace sfmla::sim::test
