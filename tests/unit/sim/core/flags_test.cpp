// SPDX-License-Identifier: Apache-2.0
// Check 2: event flags and cross-core flags.
#include "unit/sim/core/tiny_kernel.h"

namespace sfmla::sim::test {
namespace {

LaunchConfig Groups(int groups) {
  LaunchConfig config;
  config.groups = groups;
  return config;
}

// The cube core hands 64 values to both vector cores through the workspace and, with `back`, takes
// their answer. Each step's flag is set by the pipe that wrote.
template <pipe_t cube_pipe>
void CubeToVectors(Buffers& buffers) {
  if ASCEND_IS_AIC {
    Copy<Pipe::kMte2>(L1(0), buffers.In(), 256);
    AscendC::SetFlag<HardEvent::MTE2_MTE1>(0);
    AscendC::WaitFlag<HardEvent::MTE2_MTE1>(0);
    Copy<Pipe::kMte1>(LocalTensor<int32_t>(TPosition::A2, 0, 64), L1(0), 256);
    AscendC::SetFlag<HardEvent::MTE1_M>(3);
    AscendC::WaitFlag<HardEvent::MTE1_M>(3);
    Copy<Pipe::kM>(L0c(0), LocalTensor<int32_t>(TPosition::A2, 0, 64), 256);
    AscendC::SetFlag<HardEvent::M_FIX>(3);
    AscendC::WaitFlag<HardEvent::M_FIX>(3);
    const auto group = static_cast<uint64_t>(AscendC::GetBlockIdx());
    Copy<Pipe::kFix>(buffers.Workspace()[64 * group], L0c(0), 256);
    AscendC::CrossCoreSetFlag<2, cube_pipe>(5);
    return;
  }
  AscendC::CrossCoreWaitFlag(5);
  const auto core = static_cast<uint64_t>(AscendC::GetBlockIdx());
  Copy<Pipe::kMte2>(Ub(0), buffers.Workspace()[64 * (core / 2)], 256);
  AscendC::SetFlag<HardEvent::MTE2_MTE3>(0);
  AscendC::WaitFlag<HardEvent::MTE2_MTE3>(0);
  Copy<Pipe::kMte3>(buffers.Out()[64 * core], Ub(0), 256);
}

TEST_CASE("a cross-core flag publishes the writes of its pipe and no others") {
  ExpectVerdict(Groups(3), CubeToVectors<PIPE_FIX>, {});
  ExpectVerdict(Groups(3), CubeToVectors<PIPE_MTE2>, {"GM at workspace+0x"});
  ExpectVerdict(Groups(1), CubeToVectors<PIPE_MTE2>,
                {"AIC0 FIX write", "is not ordered before AIV0 MTE2 read",
                 "no cross-core flag set by FIX of AIC0 after it has reached AIV0"},
                1);
}

TEST_CASE("a flag set twice before its wait is a fault") {
  const auto kernel = [](bool twice) {
    return [=](Buffers&) {
      AscendC::SetFlag<HardEvent::MTE2_V>(1);
      if (twice) AscendC::SetFlag<HardEvent::MTE2_V>(1);
      AscendC::WaitFlag<HardEvent::MTE2_V>(1);
    };
  };
  ExpectVerdict(OneVector(), kernel(false), {});
  ExpectVerdict(OneVector(), kernel(true), {"MTE2_V flag 1 is already set", "flags_test.cpp:"}, 1);
}

TEST_CASE("a set may not overtake the wait for the one before") {
  const auto kernel = [](bool back) {
    return [=](Buffers& buffers) {
      for (uint32_t i = 0; i < 2; ++i) {
        Copy<Pipe::kMte2>(Ub(256 * i), buffers.In(), 256);
        AscendC::SetFlag<HardEvent::MTE2_V>(1);
        AscendC::WaitFlag<HardEvent::MTE2_V>(1);
        Increment(Ub(256 * i), 64);
        if (!back) continue;
        AscendC::SetFlag<HardEvent::V_MTE2>(1);
        AscendC::WaitFlag<HardEvent::V_MTE2>(1);
      }
    };
  };
  ExpectVerdict(OneVector(), kernel(true), {});
  ExpectVerdict(OneVector(), kernel(false), {"AIV0 MTE2 SetFlag", "MTE2_V flag 1"});
  ExpectVerdict(OneVector(), kernel(false),
                {"may be set still: its last wait, WaitFlag at flags_test.cpp:", "no V_MTE2 wait"},
                1);
}

TEST_CASE("a flag nobody waited for is a fault at the end") {
  ExpectVerdict(OneVector(), [](Buffers&) { AscendC::SetFlag<HardEvent::V_MTE3>(2); },
                {"AIV0 kernel end: V_MTE3 flag 2 is still set, by SetFlag at flags_test.cpp:"});
}

TEST_CASE("events are those of the core's pipes, ids are 0 to 7") {
  ExpectVerdict(
      OneVector(), [](Buffers&) { AscendC::SetFlag<HardEvent::M_FIX>(0); },
      {"AIV0 M SetFlag at flags_test.cpp:", "event M_FIX does not exist on a vector core"});
  ExpectVerdict(OneCube(), [](Buffers&) { AscendC::WaitFlag<HardEvent::MTE2_V>(0); },
                {"event MTE2_V does not exist on a cube core"});
  ExpectVerdict(OneCube(), [](Buffers&) { AscendC::SetFlag<HardEvent::M_FIX>(8); },
                {"event id 8 of M_FIX, must be 0..7"});
  ExpectVerdict(OneCube(), [](Buffers&) { AscendC::PipeBarrier<PIPE_V>(); },
                {"a cube core has no pipe V"});
  ExpectVerdict(OneVector(), [](Buffers&) { AscendC::PipeBarrier<PIPE_S>(); },
                {"pipe PIPE_S, must be another pipe"});
}

TEST_CASE("the 16th set that nobody consumed does not fit the counter") {
  const auto kernel = [](int sets) {
    return [=](Buffers&) {
      if ASCEND_IS_AIC {
        for (int i = 0; i < sets; ++i) AscendC::CrossCoreSetFlag<2, PIPE_FIX>(4);
        AscendC::CrossCoreWaitFlag(6);
        return;
      }
      AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(6);
      AscendC::CrossCoreWaitFlag(7);  // never set before the cube core has gone on
      for (int i = 0; i < sets; ++i) AscendC::CrossCoreWaitFlag(4);
    };
  };
  const auto released = [kernel](int sets) {
    return [=](Buffers& buffers) {
      kernel(sets)(buffers);
      if ASCEND_IS_AIC
        AscendC::CrossCoreSetFlag<2, PIPE_FIX>(7);
    };
  };
  ExpectVerdict(Groups(1), released(15), {});
  ExpectVerdict(Groups(1), released(16),
                {"AIC0 CrossCoreSetFlag at flags_test.cpp:", "has 15 unconsumed sets"}, 1);
}

TEST_CASE("cross-core sets left over are a fault at the end") {
  ExpectVerdict(Groups(1),
                [](Buffers&) {
                  if ASCEND_IS_AIC
                    AscendC::CrossCoreSetFlag<2, PIPE_FIX>(3);
                },
                {"cross-core flag 3 of AIV0 holds 1 sets nobody waited for"});
  ExpectVerdict(Groups(1),
                [](Buffers&) {
                  if (AscendC::GetBlockIdx() == 1) AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(3);
                },
                {"cross-core flag 3 was set 1 times by AIV1 alone"});
}

TEST_CASE("cross-core flags need a launch and a pipe that serve them") {
  ExpectVerdict(OneCube(), [](Buffers&) { AscendC::CrossCoreSetFlag<0, PIPE_FIX>(1); },
                {"has no cross-core flags"});
  LaunchConfig cubes;
  cubes.type = KernelType::kMixAic1_0;
  ExpectVerdict(cubes, [](Buffers&) { AscendC::CrossCoreSetFlag<2, PIPE_FIX>(1); },
                {"mode 2 needs kernel type"});
  ExpectVerdict(Groups(1), [](Buffers&) { AscendC::CrossCoreSetFlag<0, PIPE_S>(1); },
                {"must be the pipe whose writes the flag announces"});
  ExpectVerdict(Groups(1), [](Buffers&) { AscendC::CrossCoreSetFlag<3, PIPE_MTE2>(1); },
                {"mode 3, must be 0, 1 or 2"});
  ExpectVerdict(Groups(1), [](Buffers&) { AscendC::CrossCoreSetFlag<0, PIPE_MTE2>(16); },
                {"flag 16, must be 0..15"});
}

TEST_CASE("a flag keeps its mode while sets are outstanding") {
  ExpectVerdict(
      Groups(1),
      [](Buffers&) {
        if ASCEND_IS_AIC
          return;
        AscendC::CrossCoreSetFlag<1, PIPE_MTE3>(2);
        AscendC::CrossCoreSetFlag<0, PIPE_MTE3>(2);
        AscendC::CrossCoreWaitFlag(2);
        AscendC::CrossCoreWaitFlag(2);
      },
      {"is in use in mode"}, 1);
}

TEST_CASE("SyncAll orders all vector cores, or all cores") {
  const auto vectors = [](bool sync) {
    return [=](Buffers& buffers) {
      if ASCEND_IS_AIC
        return;
      const auto core = static_cast<uint64_t>(AscendC::GetBlockIdx());
      const auto cores = static_cast<uint64_t>(2 * AscendC::GetBlockNum());
      Copy<Pipe::kMte2>(Ub(0), buffers.In()[core], 256);
      AscendC::SetFlag<HardEvent::MTE2_MTE3>(0);
      AscendC::WaitFlag<HardEvent::MTE2_MTE3>(0);
      Copy<Pipe::kMte3>(buffers.Workspace()[64 * core], Ub(0), 256);
      if (sync) AscendC::SyncAll();
      Copy<Pipe::kMte2>(Ub(256), buffers.Workspace()[64 * ((core + 1) % cores)], 256);
    };
  };
  ExpectVerdict(Groups(4), vectors(true), {});
  ExpectVerdict(Groups(4), vectors(false), {"GM at workspace"});
  ExpectVerdict(Groups(4), [](Buffers&) { AscendC::SyncAll<false>(); }, {});
}

}  // namespace
}  // namespace sfmla::sim::test
