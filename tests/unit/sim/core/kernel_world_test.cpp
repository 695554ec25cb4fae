// SPDX-License-Identifier: Apache-2.0
// What a kernel finds on its core: its place, tiling data, TPipe, TQue.
#include "unit/sim/core/tiny_kernel.h"

namespace sfmla::sim::test {
namespace {

TEST_CASE("cores know their places") {
  std::vector<std::string> seen;
  LaunchConfig config;
  config.groups = 2;
  config.tiling_key = 7;
  const LaunchResult result = LaunchKernel(
      config,
      [&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
        CHECK(TILING_KEY_IS(7));
        CHECK(AscendC::GetBlockNum() == 2);
        CHECK((g_coreType == AscendC::AIC) == ASCEND_IS_AIC);
        seen.push_back(Str(CurrentCore().info().label, "/", AscendC::GetBlockIdx(), "/",
                           AscendC::GetSubBlockIdx(), "/", AscendC::GetTaskRatio()));
      },
      {});
  CHECK(result.fault == "");
  CHECK(seen == std::vector<std::string>{"AIC0/0/0/1", "AIV0/0/0/2", "AIV1/1/1/2", "AIC1/1/0/1",
                                         "AIV2/2/0/2", "AIV3/3/1/2"});
}

TEST_CASE("a broken assertion of a kernel is a fault with its text") {
  ExpectVerdict(OneVector(), [](Buffers&) { ascendc_assert(2 > 1, "never"); }, {});
  ExpectVerdict(OneVector(), [](Buffers&) { ascendc_assert(1 > 2); },
                {"AIV0 S ascendc_assert at kernel_world_test.cpp:", ": the condition is false"});
  ExpectVerdict(OneVector(), [](Buffers&) { ascendc_assert(1 > 2, "page %d of %d", 7, 5); },
                {": page 7 of 5"});
}

TEST_CASE("TPipe deals out buffers and event ids, and owns three of them on a cube core") {
  ExpectVerdict(OneCube(),
                [](Buffers&) {
                  AscendC::TPipe pipe;
                  AscendC::TBuf<TPosition::A1> first, second;
                  pipe.InitBuffer(first, 100);
                  pipe.InitBuffer(second, 64);
                  CHECK(second.Get<int32_t>().GetPhyAddr() == 128);
                  CHECK(second.Get<int32_t>().GetSize() == 16);
                  CHECK(pipe.AllocEventID<HardEvent::M_MTE1>() == EVENT_ID3);
                  CHECK(pipe.FetchEventID(HardEvent::M_MTE1) == EVENT_ID4);
                  pipe.ReleaseEventID<HardEvent::M_MTE1>(EVENT_ID3);
                  CHECK(pipe.FetchEventID(HardEvent::M_MTE1) == EVENT_ID3);
                  CHECK(AscendC::GetTPipePtr() == &pipe);
                },
                {});
  ExpectVerdict(OneCube(),
                [](Buffers&) {
                  AscendC::TPipe pipe;
                  AscendC::SetFlag<HardEvent::M_MTE1>(1);
                },
                {"M_MTE1 flag 1 is already set, by SetFlag"});
  ExpectVerdict(OneVector(),
                [](Buffers&) {
                  AscendC::TPipe pipe;
                  AscendC::TBuf<> buffer;
                  pipe.InitBuffer(buffer, 200 * 1024);
                },
                {"InitBuffer at kernel_world_test.cpp:", "buffer of 204800 bytes after 0 of UB"});
  ExpectVerdict(OneVector(),
                [](Buffers&) {
                  AscendC::TPipe pipe;
                  AscendC::TPipe other;
                },
                {"another TPipe lives on this core"});
}

// Copies blocks through a ring of two buffers.
void QueuedCopies(Buffers& buffers, bool free) {
  AscendC::TPipe pipe;
  AscendC::TQue<TPosition::VECIN, 2> in;
  AscendC::TQue<TPosition::VECOUT, 2> out;
  pipe.InitBuffer(in, 2, 256);
  pipe.InitBuffer(out, 2, 256);
  for (uint64_t i = 0; i < 8; ++i) {
    const auto loaded = in.AllocTensor<int32_t>();
    Copy<Pipe::kMte2>(loaded, buffers.In()[64 * i], 256);
    CHECK(in.EnQue(loaded));
    const auto source = in.DeQue<int32_t>();
    const auto target = out.AllocTensor<int32_t>();
    Copy<Pipe::kV>(target, source, 256);
    if (free) in.FreeTensor(source);
    CHECK(out.EnQue(target));
    const auto stored = out.DeQue<int32_t>();
    Copy<Pipe::kMte3>(buffers.Out()[64 * i], stored, 256);
    out.FreeTensor(stored);
  }
}

TEST_CASE("TQue does the flags, and wants its buffers back") {
  ExpectVerdict(OneVector(), [](Buffers& b) { QueuedCopies(b, true); }, {});
  ExpectVerdict(OneVector(), [](Buffers& b) { QueuedCopies(b, false); },
                {"AllocTensor at kernel_world_test.cpp:", "all 2 buffers of the queue are in use"});
  ExpectVerdict(OneVector(),
                [](Buffers&) {
                  AscendC::TPipe pipe;
                  AscendC::TQue<TPosition::VECIN, 1> queue;
                  pipe.InitBuffer(queue, 2, 64);
                  const auto first = queue.AllocTensor<int32_t>();
                  const auto second = queue.AllocTensor<int32_t>();
                  CHECK(queue.EnQue(first));
                  CHECK(!queue.EnQue(second));
                  queue.FreeTensor(first);
                },
                {"FreeTensor at kernel_world_test.cpp:", "not in the state this call ends"});
}

TEST_CASE("tiling data comes from GM") {
  struct Tiling {
    int32_t a, b, c;
  };
  ExpectVerdict(OneVector(),
                [](Buffers& b) {
                  GET_TILING_DATA_WITH_STRUCT(Tiling, tiling,
                                              reinterpret_cast<GM_ADDR>(b.in->values + 7));
                  CHECK(tiling.a == 7);
                  CHECK(tiling.c == 9);
                },
                {});
}

}  // namespace
}  // namespace sfmla::sim::test
