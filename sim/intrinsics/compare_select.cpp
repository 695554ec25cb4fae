// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/compare_select.h"

#include "base/checked_math.h"

namespace sfmla::sim {

Access BitAccess(const char* name, Access::Kind kind, const Operand& operand, int64_t elements) {
  Access access{.space = operand.space, .kind = kind, .operand = name};
  access.begin = operand.begin;
  access.run_bytes = static_cast<uint64_t>(CeilDiv(elements, 8));
  return access;
}

void IssueWithBits(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& vectors,
                   const Argument& bits_argument, const Access& bits,
                   std::function<void()> execute) {
  if (lanes.repeats == 0) return;
  Core& core = CurrentCore();
  Instruction instruction = InstructionOf(call);
  for (const VectorArgument& vector : vectors) {
    AppendFootprint(vector, lanes, &instruction.accesses);
  }
  if (core.checks()) {
    if (vectors[0].kind == Access::Kind::kWrite) {
      CheckVector(call, lanes, vectors, instruction.accesses, OverlapRule::kSameOrApart);
    } else {
      CheckPlaces(call, vectors, instruction.accesses);
    }
    CheckBitOperand(call, bits_argument, bits, instruction.accesses);
  }
  instruction.accesses.push_back(bits);
  instruction.execute = std::move(execute);
  instruction.ticks = static_cast<uint32_t>(lanes.repeats);
  core.Issue(std::move(instruction));
}

}  // namespace sfmla::sim
