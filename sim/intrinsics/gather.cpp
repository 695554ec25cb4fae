// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/gather.h"

#include <cstring>

#include "sim/contracts/gather.h"

namespace sfmla::sim {
namespace {

struct GatherOperands {
  Operand dst;
  Operand src;
  Operand offsets;
  Memory* memory;
};

void GatherElements(const Call& call, const GatherOperands& at, const GatherPlan& plan) {
  const auto bytes = static_cast<uint64_t>(plan.element_bytes);
  ForEachRun(plan.lanes, 1, [&](int64_t repeat, int64_t lane, int64_t) {
    uint32_t offset = 0;
    std::memcpy(&offset, at.offsets.host + (repeat * plan.lanes.per_repeat + lane) * int64_t{4}, 4);
    const uint64_t from = static_cast<uint64_t>(plan.base) + offset;
    CheckGathered(call, from, plan.element_bytes, at.src);
    const auto to =
        static_cast<uint64_t>(LaneOffsetBytes(plan.dst_strides, plan.element_bytes, repeat, lane));
    std::memcpy(at.dst.host + to, at.src.host + from, bytes);
    if (!at.memory->Written(at.src.begin + from, bytes)) {
      at.memory->MarkUnwritten(at.dst.begin + to, bytes);
    }
  });
}

}  // namespace

void IssueGather(const Call& call, const LaneChoice& choice, const Operand& dst, const Operand& src,
                 const Operand& offsets, GatherPlan plan) {
  plan.lanes = ResolveLanes(call, choice, plan.element_bytes);
  if (plan.lanes.repeats == 0) return;
  const int64_t offset_blocks = plan.lanes.per_repeat * 4 / kBlockBytes;
  const std::vector<VectorArgument> vectors = {
      {{"dst", dst}, Access::Kind::kWrite, plan.element_bytes, plan.dst_strides},
      {{"srcOffset", offsets}, Access::Kind::kRead, 4, {1, offset_blocks}}};
  Instruction instruction = InstructionOf(call);
  for (const VectorArgument& vector : vectors) {
    AppendFootprint(vector, plan.lanes, &instruction.accesses);
  }
  Access read{.space = src.space, .kind = Access::Kind::kRead, .may_be_unwritten = true};
  read.operand = "src";
  read.begin = src.begin;
  read.run_bytes = src.bytes;
  CheckGather(call, plan.lanes, vectors, {"src", src}, read, instruction.accesses);
  instruction.accesses.push_back(read);
  const GatherOperands at{dst, src, offsets, &CurrentCore().memory(Space::kUb)};
  instruction.execute = [=] { GatherElements(call, at, plan); };
  instruction.ticks = static_cast<uint32_t>(plan.lanes.repeats);
  CurrentCore().Issue(std::move(instruction));
}

}  // namespace sfmla::sim
