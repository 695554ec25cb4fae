// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/vector_broadcast.h"

#include <cstring>

#include "sim/contracts/vector_broadcast.h"
#include "sim/intrinsics/unwritten.h"

namespace sfmla::sim {

void BroadcastBlocks(std::byte* dst, const std::byte* src, const BroadcastPlan& plan) {
  for (int64_t i = 0; i < plan.repeats * kBlocksPerRepeat; ++i) {
    std::byte* block = dst + (i / kBlocksPerRepeat * plan.repeat_stride +
                              i % kBlocksPerRepeat * plan.block_stride) *
                                 kBlockBytes;
    for (int64_t byte = 0; byte < kBlockBytes; byte += plan.element_bytes) {
      std::memcpy(block + byte, src + i * plan.element_bytes,
                  static_cast<size_t>(plan.element_bytes));
    }
  }
}

void IssueBroadcast(const SourceLocation& where, const Operand& dst, const Operand& src,
                    const BroadcastPlan& plan) {
  if (plan.repeats == 0) return;
  const Call call{"Brcb", Pipe::kV, where};
  Access write{.space = dst.space, .kind = Access::Kind::kWrite, .operand = "dst"};
  write.begin = dst.begin;
  write.run_bytes = kBlockBytes;
  write.inner_count = kBlocksPerRepeat;
  write.inner_stride = plan.block_stride * kBlockBytes;
  write.outer_count = static_cast<uint32_t>(plan.repeats);
  write.outer_stride = plan.repeat_stride * kBlockBytes;
  Access read{.space = src.space, .kind = Access::Kind::kRead, .may_be_unwritten = true};
  read.operand = "src0";
  read.begin = src.begin;
  read.run_bytes = static_cast<uint64_t>(plan.repeats * kBlocksPerRepeat * plan.element_bytes);
  Core& core = CurrentCore();
  if (core.checks()) CheckBroadcast(call, {"dst", dst}, {"src0", src}, write, read);
  Instruction instruction = InstructionOf(call);
  instruction.accesses = {write, read};
  const MemoryPart to{&core.memory(Space::kUb), dst.begin,
                      static_cast<uint64_t>(AccessEnd(write)) - dst.begin};
  const MemoryPart from{&core.memory(Space::kUb), src.begin, read.run_bytes};
  instruction.execute = [=] {
    BroadcastBlocks(dst.host, src.host, plan);
    MoveUnwritten(to, from, [&](std::byte* written_dst, const std::byte* written_src) {
      BroadcastBlocks(written_dst, written_src, plan);
    });
  };
  instruction.ticks = static_cast<uint32_t>(plan.repeats);
  core.Issue(std::move(instruction));
}

}  // namespace sfmla::sim
