// SPDX-License-Identifier: Apache-2.0
// Check 1: accesses that nothing orders, each with its corrected twin.
#include "unit/sim/core/tiny_kernel.h"

namespace sfmla::sim::test {
namespace {

// MTE2 fills UB, V works on it, MTE3 takes it out. `flags` says which of the two waits exist.
void ThreeSteps(Buffers& buffers, bool mte2_v, bool v_mte3) {
  const LocalTensor<int32_t> ub = Ub(0);
  Copy<Pipe::kMte2>(ub, buffers.In(), 256);
  if (mte2_v) {
    AscendC::SetFlag<HardEvent::MTE2_V>(0);
    AscendC::WaitFlag<HardEvent::MTE2_V>(0);
  }
  Increment(ub, 64);
  if (v_mte3) {
    AscendC::SetFlag<HardEvent::V_MTE3>(0);
    AscendC::WaitFlag<HardEvent::V_MTE3>(0);
  }
  Copy<Pipe::kMte3>(buffers.Out(), ub, 256);
}

TEST_CASE("a missing flag between two pipes is a race") {
  ExpectVerdict(OneVector(), [](Buffers& b) { ThreeSteps(b, true, true); }, {});
  ExpectVerdict(OneVector(), [](Buffers& b) { ThreeSteps(b, true, false); },
                {"is not ordered before", "of UB", "races_test.cpp:"});
  // In program order the text is whole and tells which way the flag is missing.
  ExpectVerdict(
      OneVector(), [](Buffers& b) { ThreeSteps(b, false, true); },
      {"AIV0 MTE2 write of 32 bytes of UB at 0 by Copy at races_test.cpp:",
       "is not ordered before AIV0 V read by Increment at races_test.cpp:", "no MTE2_V wait"},
      1);
}

TEST_CASE("correct kernels compute the same under every schedule") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Buffers buffers;
    const LaunchResult result = LaunchKernel(
        Seeded(OneVector(), seed), [&] { ThreeSteps(buffers, true, true); }, buffers.Ranges());
    CHECK(result.fault == "");
    for (int32_t i = 0; i < 64; ++i) CHECK(buffers.out->values[i] == i + 1);
  }
}

TEST_CASE("dependent vector instructions need PipeBarrier<PIPE_V> on 2201, not on 3510") {
  const auto kernel = [](bool barrier) {
    return [=](Buffers& buffers) {
      Copy<Pipe::kMte2>(Ub(0), buffers.In(), 256);
      AscendC::SetFlag<HardEvent::MTE2_V>(0);
      AscendC::WaitFlag<HardEvent::MTE2_V>(0);
      Increment(Ub(0), 64);
      if (barrier) AscendC::PipeBarrier<PIPE_V>();
      Increment(Ub(0), 64);
    };
  };
  ExpectVerdict(OneVector(), kernel(true), {});
  ExpectVerdict(OneVector(), kernel(false), {"no PipeBarrier<PIPE_V> between them"});
  LaunchConfig newer = OneVector();
  newer.architecture = 3510;
  ExpectVerdict(newer, kernel(false), {});
}

TEST_CASE("a buffer refilled before its reader is done is a race") {
  const auto kernel = [](bool back) {
    return [=](Buffers& buffers) {
      Copy<Pipe::kMte2>(Ub(0), buffers.In(), 256);
      AscendC::SetFlag<HardEvent::MTE2_MTE3>(1);
      AscendC::WaitFlag<HardEvent::MTE2_MTE3>(1);
      Copy<Pipe::kMte3>(buffers.Out(), Ub(0), 256);
      if (back) {
        AscendC::SetFlag<HardEvent::MTE3_MTE2>(1);
        AscendC::WaitFlag<HardEvent::MTE3_MTE2>(1);
      }
      Copy<Pipe::kMte2>(Ub(0), buffers.In()[64], 256);
    };
  };
  ExpectVerdict(OneVector(), kernel(true), {});
  ExpectVerdict(OneVector(), kernel(false), {"no MTE3_MTE2 wait"}, 1);
  ExpectVerdict(OneVector(), kernel(false), {"is not ordered before"});
}

TEST_CASE("the scalar unit needs flags to meet other pipes in UB") {
  const auto kernel = [](bool flags) {
    return [=](Buffers& buffers) {
      Ub(0).SetValue(3, 7);
      if (flags) {
        AscendC::SetFlag<HardEvent::S_MTE3>(0);
        AscendC::WaitFlag<HardEvent::S_MTE3>(0);
      }
      Copy<Pipe::kMte3>(buffers.Out(), Ub(0)[3], 4);
      if (flags) {
        AscendC::SetFlag<HardEvent::MTE3_S>(0);
        AscendC::WaitFlag<HardEvent::MTE3_S>(0);
      }
      Ub(0).SetValue(3, 8);
    };
  };
  ExpectVerdict(OneVector(), kernel(true), {});
  ExpectVerdict(OneVector(), kernel(false), {"S write of 4 bytes of UB at 12", "S_MTE3"}, 1);
}

TEST_CASE("PIPE_ALL orders everything on a core") {
  ExpectVerdict(OneVector(),
                [](Buffers& buffers) {
                  Copy<Pipe::kMte2>(Ub(0), buffers.In(), 256);
                  AscendC::PipeBarrier<PIPE_ALL>();
                  Increment(Ub(0), 64);
                  AscendC::PipeBarrier<PIPE_ALL>();
                  CHECK(Ub(0).GetValue(5) == 6);
                  Copy<Pipe::kMte3>(buffers.Out(), Ub(0), 256);
                },
                {});
}

TEST_CASE("races are found by bytes, not by blocks of 32") {
  const auto kernel = [](uint32_t second) {
    return [=](Buffers& buffers) {
      Copy<Pipe::kMte2>(Ub(0), buffers.In(), 16);
      Ub(0).SetValue(second, 1);
    };
  };
  ExpectVerdict(OneVector(), kernel(4), {});
  ExpectVerdict(OneVector(), kernel(3), {"is not ordered before", "4 bytes of UB at 12"});
}

TEST_CASE("cube pipes: L1, L0 and L0C are watched too") {
  const auto kernel = [](bool flag) {
    return [=](Buffers& buffers) {
      const LocalTensor<int32_t> l0a(TPosition::A2, 512, 64);
      Copy<Pipe::kMte2>(L1(1024), buffers.In(), 256);
      AscendC::SetFlag<HardEvent::MTE2_MTE1>(2);
      AscendC::WaitFlag<HardEvent::MTE2_MTE1>(2);
      Copy<Pipe::kMte1>(l0a, L1(1024), 256);
      AscendC::SetFlag<HardEvent::MTE1_M>(3);
      AscendC::WaitFlag<HardEvent::MTE1_M>(3);
      Copy<Pipe::kM>(L0c(0), l0a, 256);
      if (flag) {
        AscendC::SetFlag<HardEvent::M_FIX>(3);
        AscendC::WaitFlag<HardEvent::M_FIX>(3);
      }
      Copy<Pipe::kFix>(buffers.Out(), L0c(0), 256);
    };
  };
  ExpectVerdict(OneCube(), kernel(true), {});
  ExpectVerdict(OneCube(), kernel(false), {"of L0C at 0"});
  ExpectVerdict(OneCube(), kernel(false), {"M write", "FIX read", "no M_FIX wait"}, 1);
}

TEST_CASE("atomic additions of two cores may meet, plain writes may not") {
  LaunchConfig config;
  config.type = KernelType::kMixAic1_2;
  const auto kernel = [](Access::Kind kind) {
    return [=](Buffers& buffers) {
      if ASCEND_IS_AIC
        return;
      auto* sum = buffers.out->values;
      AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::ENTIRE_DATA_CACHE>(
          buffers.Out());
      CurrentCore().Issue({.name = "Add",
                           .pipe = Pipe::kMte3,
                           .where = SourceLocation::current(),
                           .accesses = {{.space = Space::kGm,
                                         .kind = kind,
                                         .operand = "sum",
                                         .begin = reinterpret_cast<uint64_t>(sum),
                                         .run_bytes = 4}},
                           .execute = [=] { ++*sum; }});
    };
  };
  const auto ranges = [](Buffers& buffers) {
    std::vector<GmRange> all = buffers.Ranges();
    all[1].kind = GmRange::Kind::kInOut;
    return all;
  };
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Buffers buffers;
    const auto atomic = [&] { kernel(Access::Kind::kAtomicAdd)(buffers); };
    CHECK(LaunchKernel(Seeded(config, seed), atomic, ranges(buffers)).fault == "");
    CHECK(buffers.out->values[0] == 2);
  }
  ExpectVerdict(
      config, kernel(Access::Kind::kWrite),
      {"MTE3 write of 4 bytes of GM at out+0x0", "no cross-core flag set by MTE3 of AIV"});
}

}  // namespace
}  // namespace sfmla::sim::test
