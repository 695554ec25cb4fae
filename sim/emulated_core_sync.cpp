// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/format.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"

namespace sfmla::sim {

namespace {

Instruction ControlInstruction(const char* name, Pipe pipe, const SourceLocation& where) {
  Instruction instruction;
  instruction.name = name;
  instruction.pipe = pipe;
  instruction.where = where;
  instruction.ticks = 0;
  return instruction;
}

}  // namespace

void EmulatedCore::CheckEvent(const SourceLocation& where, const char* name,
                              AscendC::HardEvent event, int id) const {
  if (!HasEvent(info_.kind, event)) {
    const char* kind = info_.kind == CoreKind::kCube ? "a cube core" : "a vector core";
    Fault(PipesOf(event).source, name, where,
          Str("event ", EventName(event), " does not exist on ", kind));
  }
  if (id < 0 || id >= kEventIds) {
    Fault(PipesOf(event).source, name, where,
          Str("event id ", id, " of ", EventName(event), ", must be 0..", kEventIds - 1));
  }
}

void EmulatedCore::RaiseFlag(const Instruction& instruction, const Control& control,
                             PipeState& pipe, uint64_t ticks) {
  EventFlag& flag = At(control.event, control.id);
  if (flag.set) {
    Refuse(instruction, Str(EventName(control.event), " flag ", control.id, " is already set, by ",
                            flag.site.name, " at ", SiteText(flag.site.where),
                            ": a wait must consume it before the next set"));
  }
  if (checks()) CheckConsumed(instruction, control, pipe);
  flag.set = true;
  flag.ticks = ticks;
  flag.site = {instruction.name, instruction.where};
  if (checks()) flag.known = Published(pipe, instruction.pipe);
}

// A set may not overtake the wait that consumes the one before, on any schedule. What the scalar
// unit has waited for is over when it issues more.
void EmulatedCore::CheckConsumed(const Instruction& instruction, const Control& control,
                                 const PipeState& pipe) const {
  const EventFlag& last = flag(control.event, control.id);
  const EventPipes pipes = PipesOf(control.event);
  if (pipes.destination == Pipe::kS || pipes.destination == pipes.source) return;
  if (pipe.known.At(Component(info_.index, pipes.destination)) >= last.consumed) return;
  Refuse(instruction, Str(EventName(control.event), " flag ", control.id,
                          " may be set still: its last wait, ", last.consumer.name, " at ",
                          SiteText(last.consumer.where), ", is not ordered before this set: no ",
                          EventName(pipes.destination, pipes.source), " wait"));
}

// What another pipe learns from this one when it has waited for it.
Clock EmulatedCore::Published(const PipeState& state, Pipe which) const {
  Clock known = state.known;
  known.Set(Component(info_.index, which), state.now);
  return known;
}

std::shared_ptr<const Clock> EmulatedCore::ScalarSnapshot() {
  if (!snapshot_) snapshot_ = std::make_shared<const Clock>(scalar().known);
  return snapshot_;
}

void EmulatedCore::ScalarLearns(const Clock& known) {
  scalar().known.Join(known);
  snapshot_.reset();
}

void EmulatedCore::SetFlag(const SourceLocation& where, AscendC::HardEvent event, int id) {
  if (Unwinding()) return;
  CheckEvent(where, "SetFlag", event, id);
  Enqueue({.instruction = ControlInstruction("SetFlag", PipesOf(event).source, where),
           .control = {.kind = Control::Kind::kSetFlag, .event = event, .id = id}});
}

void EmulatedCore::WaitFlag(const SourceLocation& where, AscendC::HardEvent event, int id) {
  if (Unwinding()) return;
  CheckEvent(where, "WaitFlag", event, id);
  const Pipe destination = PipesOf(event).destination;
  if (destination != Pipe::kS) {
    Enqueue({.instruction = ControlInstruction("WaitFlag", destination, where),
             .control = {.kind = Control::Kind::kWaitFlag, .event = event, .id = id}});
    return;
  }
  BlockUntil({.kind = Wait::Kind::kFlag, .event = event, .id = id, .site = {"WaitFlag", where}});
  EventFlag& flag = At(event, id);
  flag.set = false;
  ScalarLearns(flag.known);
  scalar().ticks = std::max(scalar().ticks, flag.ticks);
}

void EmulatedCore::Barrier(const SourceLocation& where, pipe_t pipe) {
  if (Unwinding()) return;
  if (pipe == PIPE_S) {
    Fault(Pipe::kS, "PipeBarrier", where, "pipe PIPE_S, must be another pipe or PIPE_ALL");
  }
  if (pipe != PIPE_ALL) {
    const Instruction barrier = ControlInstruction("PipeBarrier", PipeOf(pipe), where);
    CheckPipe(barrier);
    Enqueue({.instruction = barrier, .control = {.kind = Control::Kind::kBarrier}});
    return;
  }
  BlockUntil({.kind = Wait::Kind::kPipesEmpty, .site = {"PipeBarrier", where}});
  Clock all(state_.components);
  for (int i = 0; i < kPipes; ++i) {
    const auto which = static_cast<Pipe>(i);
    if (checks()) all.Join(Published(At(which), which));
    scalar().ticks = std::max(scalar().ticks, At(which).ticks);
  }
  ScalarLearns(all);
}

void EmulatedCore::CheckCrossMode(const SourceLocation& where, int mode, pipe_t pipe) const {
  const auto refuse = [&](const std::string& reason) {
    Fault(PipeOf(pipe), "CrossCoreSetFlag", where, reason);
  };
  if (pipe == PIPE_S || pipe == PIPE_ALL) {
    refuse("pipe PIPE_S or PIPE_ALL, must be the pipe whose writes the flag announces");
  }
  if (mode < 0 || mode > 2) refuse(Str("mode ", mode, ", must be 0, 1 or 2"));
  const KernelType type = state_.config.type;
  if (type == KernelType::kAivOnly || type == KernelType::kAicOnly) {
    refuse("kernel type AIV_ONLY or AIC_ONLY has no cross-core flags, must be a MIX type");
  }
  const bool has_pairs = type == KernelType::kMixAic1_1 || type == KernelType::kMixAic1_2;
  if (mode == 2 && !has_pairs) refuse("mode 2 needs kernel type MIX_AIC_1_1 or MIX_AIC_1_2");
}

void EmulatedCore::CrossCoreSet(const SourceLocation& where, int mode, pipe_t pipe, int id) {
  if (Unwinding()) return;
  CheckCrossMode(where, mode, pipe);
  Instruction set = ControlInstruction("CrossCoreSetFlag", PipeOf(pipe), where);
  if (id < 0 || id >= kCrossFlagIds) {
    Refuse(set, Str("flag ", id, ", must be 0..", kCrossFlagIds - 1));
  }
  CheckPipe(set);
  Enqueue({.instruction = std::move(set),
           .control = {.kind = Control::Kind::kCrossSet, .id = id, .mode = mode}});
}

void EmulatedCore::CrossCoreWait(const SourceLocation& where, int id) {
  if (Unwinding()) return;
  if (id < 0 || id >= kCrossFlagIds) {
    Fault(Pipe::kS, "CrossCoreWaitFlag", where,
          Str("flag ", id, ", must be 0..", kCrossFlagIds - 1));
  }
  const uint64_t begin = scalar().ticks;
  BlockUntil({.kind = Wait::Kind::kCrossFlag, .id = id, .site = {"CrossCoreWaitFlag", where}});
  const CrossSet set = state_.cross.Take(info_.index, id);
  ScalarLearns(set.known);
  scalar().ticks = std::max(begin, set.ticks);
  Trace(Pipe::kS, "CrossCoreWaitFlag", where, begin, scalar().ticks);
}

std::string EmulatedCore::LeftoverText() const {
  for (int event = 0; event < kHardEvents; ++event) {
    for (int id = 0; id < kEventIds; ++id) {
      const EventFlag& flag = flags_[static_cast<size_t>(event)][static_cast<size_t>(id)];
      if (!flag.set) continue;
      return Str(info_.label, " kernel end: ", EventName(static_cast<AscendC::HardEvent>(event)),
                 " flag ", id, " is still set, by ", flag.site.name, " at ",
                 SiteText(flag.site.where), ": every set must be waited for");
    }
  }
  const std::string at_end = info_.label + " kernel end: ";
  if (const std::string text = unit_flags_.LeftoverText(); !text.empty()) {
    return info_.label + " " + text;
  }
  if (const CacheLine* line = cache_.AnyDirty()) {
    return Str(at_end, "a data cache line of ", state_.gm.Describe(line->address),
               " holds scalar writes, DataCacheCleanAndInvalid must write them back");
  }
  if (scalar_state_.atomic != ScalarState::Atomic::kNone) {
    return at_end + "atomic mode is on, SetAtomicNone must end it";
  }
  if (scalar_state_.counter_mode) {
    return at_end + "mask mode is COUNTER, SetMaskNorm must restore NORMAL";
  }
  return {};
}

}  // namespace sfmla::sim
