// SPDX-License-Identifier: Apache-2.0
// Checks 3, 4, 6 and 9: bounds and narrowing, bytes nobody wrote, unit flags, the data cache.
#include "unit/sim/core/tiny_kernel.h"

namespace sfmla::sim::test {
namespace {

TEST_CASE("accesses end where their memory ends") {
  ExpectVerdict(OneVector(),
                [](Buffers& b) { Copy<Pipe::kMte2>(Ub(192 * 1024 - 256 - 64), b.In(), 128); },
                {"AIV0 MTE2 Copy at memory_checks_test.cpp:", "to: bytes [196288, 196416) of UB",
                 "which has 196352"});
  LaunchConfig limited = OneVector();
  limited.ub_limit_bytes = 1024;
  ExpectVerdict(limited, [](Buffers& b) { Copy<Pipe::kMte2>(Ub(1024), b.In(), 32); },
                {"of UB of AIV0, which has 1024"});
  ExpectVerdict(OneVector(), [](Buffers& b) { Copy<Pipe::kMte2>(L1(0), b.In(), 32); },
                {"of L1 of AIV0, which has 0"});
}

TEST_CASE("GM ends where the launch's memory ends") {
  ExpectVerdict(OneVector(), [](Buffers& b) { Copy<Pipe::kMte2>(Ub(0), b.In()[4090], 32); },
                {"from: 32 bytes of GM at in+0x3fe8 end 8 bytes past the end of in"});
  ExpectVerdict(OneVector(),
                [](Buffers& b) {
                  Ub(0).SetValue(0, 1);
                  AscendC::PipeBarrier<PIPE_ALL>();
                  Copy<Pipe::kMte3>(b.In(), Ub(0), 4);
                },
                {"to: writes in+0x0, which is an input"});
  ExpectVerdict(OneVector(), [](Buffers& b) { b.In().GetValue(uint64_t{1} << 40); },
                {"AIV0 S GetValue at memory_checks_test.cpp:", "is outside of the memory"});
  ExpectVerdict(OneVector(), [](Buffers&) { Ub(0, 8).GetValue(8); },
                {"tensor: element at byte 32 of 32"});
}

TEST_CASE("bounds are kept without checks, too") {
  LaunchConfig fast = OneVector();
  fast.checks = false;
  ExpectVerdict(fast, [](Buffers& b) { Copy<Pipe::kMte2>(Ub(0), b.In()[4090], 32); },
                {"bytes past the end of in"});
}

TEST_CASE("values that do not fit a parameter's field are faults") {
  const auto kernel = [](int gap) {
    return [=](Buffers&) {
      AscendC::DataCopyParams params;
      params.srcStride = gap;
      CHECK(params.srcStride == gap);
    };
  };
  ExpectVerdict(OneVector(), kernel(65535), {});
  ExpectVerdict(OneVector(), kernel(65536),
                {"parameter at memory_checks_test.cpp:", "value 65536 does not fit the 16-bit"});
  ExpectVerdict(OneVector(), kernel(-1), {"value -1 does not fit"});
}

TEST_CASE("bytes nobody wrote may not be read") {
  ExpectVerdict(OneVector(), [](Buffers& b) { Copy<Pipe::kMte3>(b.Out(), Ub(64), 32); },
                {"AIV0 MTE3 Copy at memory_checks_test.cpp:",
                 "from: reads 1 bytes of UB at 64, which nothing has written"});
  ExpectVerdict(OneVector(), [](Buffers& b) { Copy<Pipe::kMte2>(Ub(0), b.Workspace()[5], 32); },
                {"1 bytes of GM at workspace+0x14, which nothing has written"});
  ExpectVerdict(OneVector(), [](Buffers& b) { b.Out().GetValue(1); },
                {"GM at out+0x4, which nothing has written"});
}

TEST_CASE("what is computed from unwritten bytes can be marked unwritten again") {
  ExpectVerdict(
      OneVector(),
      [](Buffers& b) {
        const Operand ub = OperandOf(Ub(0));
        Memory* memory = &CurrentCore().memory(Space::kUb);
        CurrentCore().Issue({.name = "Garbage",
                             .pipe = Pipe::kMte3,
                             .where = SourceLocation::current(),
                             .accesses = {{.kind = Access::Kind::kRead,
                                           .may_be_unwritten = true,
                                           .begin = ub.begin + 64,
                                           .run_bytes = 64},
                                          {.kind = Access::Kind::kWrite, .run_bytes = 64}},
                             .execute = [=] { memory->MarkUnwritten(32, 32); }});
        AscendC::PipeBarrier<PIPE_MTE3>();
        Copy<Pipe::kMte3>(b.Out(), Ub(0), 64);
      },
      {"reads 1 bytes of UB at 32, which nothing has written"});
}

TEST_CASE("memory begins as NaN in every float type") {
  Memory memory(Space::kUb, 64, true);
  float value = 0;
  std::memcpy(&value, memory.At(0), sizeof(value));
  CHECK(value != value);
  CHECK(HalfBitsToFloat(kPoison) != HalfBitsToFloat(kPoison));
  CHECK(Bfloat16BitsToFloat(kPoison) != Bfloat16BitsToFloat(kPoison));
}

void UnitFlagged(const char* name, Pipe pipe, bool wants_full, bool flips, uint64_t bytes,
                 Access::Kind kind) {
  CurrentCore().Issue({.name = name,
                       .pipe = pipe,
                       .where = SourceLocation::current(),
                       .accesses = {{.space = Space::kL0C, .kind = kind, .run_bytes = bytes}},
                       .execute = [] {},
                       .unit_flag = UnitFlagUse{0, bytes, wants_full, flips}});
}

TEST_CASE("unit flags order Mmad and Fixpipe, and must match") {
  const auto kernel = [](int rounds, bool fixpipe_flag) {
    return [=](Buffers&) {
      for (int i = 0; i < rounds; ++i) {
        UnitFlagged("Mmad", Pipe::kM, false, false, 2048, Access::Kind::kWrite);
        AscendC::PipeBarrier<PIPE_M>();
        UnitFlagged("Mmad", Pipe::kM, false, true, 2048, Access::Kind::kWrite);
        if (fixpipe_flag) {
          UnitFlagged("Fixpipe", Pipe::kFix, true, true, 2048, Access::Kind::kRead);
        }
      }
    };
  };
  ExpectVerdict(OneCube(), kernel(3, true), {});
  ExpectVerdict(OneCube(), kernel(1, false), {"AIC0 kernel end: unit flag of L0C byte 0 is full"});
  ExpectVerdict(OneCube(), kernel(2, false),
                {"deadlock: 1 cores cannot go on",
                 "Mmad at memory_checks_test.cpp:", "for L0C units to be free"});
}

void Clean(const GlobalTensor<int32_t>& word) {
  AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::SINGLE_CACHE_LINE>(word);
}

// One core writes a word twice with its scalar unit, another reads it each time.
void Mailbox(Buffers& buffers, bool invalidate) {
  if ASCEND_IS_AIC
    return;
  const GlobalTensor<int32_t> word = buffers.Workspace();
  const bool writer = AscendC::GetBlockIdx() == 0;
  for (int32_t value = 1; value <= 2; ++value) {
    if (writer) {
      word.SetValue(0, value);
      Clean(word);
      AscendC::DataSyncBarrier<AscendC::MemDsbT::DDR>();
    }
    AscendC::SyncAll();
    if (!writer) {
      if (invalidate) Clean(word);
      const int32_t found = word.GetValue(0);
      CHECK(found == value);
    }
    AscendC::SyncAll();
  }
}

TEST_CASE("a scalar read after another core's write needs its cache line dropped") {
  ExpectVerdict({}, [](Buffers& b) { Mailbox(b, true); }, {});
  // Other seeds may evict the line by themselves.
  ExpectVerdict(
      {}, [](Buffers& b) { Mailbox(b, false); },
      {"AIV1 S GetValue at memory_checks_test.cpp:",
       "reads workspace+0x0 from a data cache line older than memory"},
      1);
}

TEST_CASE("scalar writes stay in the cache until cleaned, and are not ordered until a barrier") {
  const LaunchConfig config = OneVector();
  const auto kernel = [](bool clean, bool barrier, bool flag) {
    return [=](Buffers& b) {
      b.Workspace().SetValue(0, 3);
      if (clean) Clean(b.Workspace());
      if (barrier) AscendC::DataSyncBarrier<AscendC::MemDsbT::DDR>();
      if (flag) {
        AscendC::SetFlag<HardEvent::S_MTE2>(0);
        AscendC::WaitFlag<HardEvent::S_MTE2>(0);
        Copy<Pipe::kMte2>(Ub(0), b.Workspace(), 4);
      }
    };
  };
  ExpectVerdict(config, kernel(true, true, true), {});
  ExpectVerdict(
      config, kernel(true, false, true),
      {"D-cache write of 4 bytes of GM at workspace+0x0", "MTE2 read", "no DataSyncBarrier"});
  ExpectVerdict(config, kernel(false, false, false),
                {"kernel end: a data cache line of workspace+0x0 holds scalar writes"}, 1);
}

TEST_CASE("two cores' scalar writes to one cache line clash though the bytes differ") {
  const auto kernel = [](uint64_t distance) {
    return [=](Buffers& b) {
      if ASCEND_IS_AIC
        return;
      const auto core = static_cast<uint64_t>(AscendC::GetBlockIdx());
      const GlobalTensor<int32_t> word = b.Out()[core * distance];
      word.SetValue(0, 1);
      Clean(word);
    };
  };
  ExpectVerdict({}, kernel(16), {});
  ExpectVerdict({}, kernel(1), {"write-back", "out+0x"});
}

}  // namespace
}  // namespace sfmla::sim::test
