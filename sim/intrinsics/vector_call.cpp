// SPDX-License-Identifier: Apache-2.0
#include "sim/intrinsics/vector_call.h"

namespace sfmla::sim {
namespace {

// In counter mode the register is a number of elements, and the repeat count says nothing.
Lanes RegisterLanes(const ScalarState& state, int64_t per_repeat, int64_t repeats) {
  if (state.counter_mode) {
    return Lanes::Counted(static_cast<int64_t>(state.mask[0]), per_repeat);
  }
  return Lanes::Repeated(repeats, per_repeat, {state.mask[0], state.mask[1]});
}

void SetRegister(ScalarState& state, LaneMask mask) {
  state.mask[0] = mask.low;
  state.mask[1] = mask.high;
}

}  // namespace

Lanes ResolveLanes(const Call& call, const LaneChoice& choice, int64_t element_bytes) {
  const int64_t per_repeat = kRepeatBytes / element_bytes;
  ScalarState& state = CurrentCore().scalar_state();
  switch (choice.form) {
    case LaneChoice::Form::kCount:
      CheckCount(call, choice.count);
      SetRegister(state, {~uint64_t{0}, ~uint64_t{0}});
      state.counter_mode = false;
      return Lanes::Counted(choice.count, per_repeat);
    case LaneChoice::Form::kLeading:
      if (state.counter_mode) {
        state.mask[0] = static_cast<uint64_t>(choice.count);
      } else {
        CheckLeading(call, choice.count, per_repeat);
        SetRegister(state, LaneMask::Leading(choice.count));
      }
      break;
    case LaneChoice::Form::kBits:
      CheckBits(call, choice.bits, per_repeat);
      SetRegister(state, choice.bits);
      break;
    case LaneChoice::Form::kRegister:
      CheckRegister(call, state, per_repeat);
      break;
  }
  return RegisterLanes(state, per_repeat, choice.repeats);
}

void IssueVector(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& operands,
                 OverlapRule rule, std::function<void()> execute) {
  if (lanes.repeats == 0) return;
  Core& core = CurrentCore();
  Instruction instruction = InstructionOf(call);
  for (const VectorArgument& operand : operands) {
    AppendFootprint(operand, lanes, &instruction.accesses);
  }
  if (core.checks()) CheckVector(call, lanes, operands, instruction.accesses, rule);
  instruction.execute = std::move(execute);
  instruction.ticks = static_cast<uint32_t>(lanes.repeats);
  core.Issue(std::move(instruction));
}

}  // namespace sfmla::sim
