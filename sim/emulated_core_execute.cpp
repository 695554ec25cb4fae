// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/format.h"
#include "sim/active_core.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"
#include "sim/report.h"

namespace sfmla::sim {

void EmulatedCore::StepPipe(Pipe which) {
  const ActiveCore active(this);
  PipeState& pipe = At(which);
  const QueueEntry entry = std::move(pipe.queue.front());
  pipe.queue.pop_front();
  if (entry.scalar_knew && entry.scalar_knew != pipe.joined) {
    pipe.known.Join(*entry.scalar_knew);
    pipe.joined = entry.scalar_knew;
  }
  const Instruction& instruction = entry.instruction;
  uint64_t begin = std::max(pipe.ticks, entry.issue_ticks);
  if (entry.control.kind == Control::Kind::kNone) {
    Execute(instruction, pipe, &begin);
  } else {
    ExecuteControl(entry, pipe, &begin);
  }
  pipe.ticks = begin + instruction.ticks;
  if (instruction.unit_flag && instruction.unit_flag->flips) {
    unit_flags_.Flip(*instruction.unit_flag, std::make_shared<const Clock>(Published(pipe, which)),
                     pipe.ticks);
  }
  Trace(which, instruction.name, instruction.where, begin, pipe.ticks);
  pipe.recent.push_back({instruction.name, instruction.where});
  if (pipe.recent.size() > kRecentInstructions) pipe.recent.pop_front();
}

void EmulatedCore::Execute(const Instruction& instruction, PipeState& pipe, uint64_t* ticks) {
  ++state_.instructions;
  ++pipe.now;
  if (instruction.unit_flag) unit_flags_.Acquire(*instruction.unit_flag, &pipe.known, ticks);
  if (checks()) {
    const bool interlocked = instruction.pipe == Pipe::kS ||
                             (instruction.pipe == Pipe::kV && state_.chip.architecture == 3510);
    CheckAccesses(instruction, {.component = Component(info_.index, instruction.pipe),
                                .time = pipe.now,
                                .site = state_.sites.Intern(instruction.name, instruction.where),
                                .known = &pipe.known,
                                .ordered_in_pipe = instruction.ordered_in_pipe || interlocked});
  }
  instruction.execute();
}

void EmulatedCore::ExecuteControl(const QueueEntry& entry, PipeState& pipe, uint64_t* ticks) {
  const Control& control = entry.control;
  const Pipe which = entry.instruction.pipe;
  switch (control.kind) {
    case Control::Kind::kSetFlag:
      RaiseFlag(entry.instruction, control, pipe, *ticks);
      return;
    case Control::Kind::kWaitFlag: {
      EventFlag& flag = At(control.event, control.id);
      flag.set = false;
      flag.consumed = ++pipe.now;
      flag.consumer = {entry.instruction.name, entry.instruction.where};
      pipe.known.Join(flag.known);
      *ticks = std::max(*ticks, flag.ticks);
      return;
    }
    case Control::Kind::kBarrier:
      pipe.known.Set(Component(info_.index, which), pipe.now);
      return;
    default:
      state_.cross.Send({info_.index, control.mode, control.id,
                         checks() ? Published(pipe, which) : Clock(), *ticks,
                         state_.sites.Intern(entry.instruction.name, entry.instruction.where)});
  }
}

void EmulatedCore::CheckAccesses(const Instruction& instruction, const Accessor& accessor) {
  for (const Access& access : instruction.accesses) {
    AccessLog& log =
        access.space == Space::kGm ? state_.gm_log : logs_[static_cast<size_t>(access.space)];
    if (access.space == Space::kGm && !access.writes()) {
      const GmRange* range = state_.gm.Find(access.begin, 1);
      // Nobody writes inputs, so nothing can race with reading them.
      if (range != nullptr && range->kind == GmRange::Kind::kInput) continue;
    }
    if (const std::optional<Conflict> conflict = log.Add(access, accessor)) {
      throw SimFault(RaceText(state_, access, accessor, *conflict));
    }
  }
  for (const Access& access : instruction.accesses) {
    if (access.reads() && !access.may_be_unwritten) CheckWritten(instruction, access);
  }
  for (const Access& access : instruction.accesses) {
    if (access.writes()) MarkWritten(access);
  }
}

void EmulatedCore::CheckWritten(const Instruction& instruction, const Access& access) {
  const auto written = [&](uint64_t begin, uint64_t bytes) {
    if (access.space != Space::kGm) return memory(access.space).Written(begin, bytes);
    return state_.written_gm.Written(*state_.gm.Find(begin, bytes), begin, bytes);
  };
  VisitRuns(access, [&](uint64_t begin, uint64_t bytes) {
    if (bytes == 0 || written(begin, bytes)) return true;
    while (written(begin, 1)) ++begin;
    Refuse(instruction,
           Str(access.operand, ": reads ", RangeText(state_, access.space, begin, 1),
               ", which nothing has written",
               QueuedWriterText(state_, info_, instruction.pipe, access.space, begin)));
  });
}

void EmulatedCore::MarkWritten(const Access& access) {
  VisitRuns(access, [&](uint64_t begin, uint64_t bytes) {
    if (bytes == 0) return true;
    if (access.space != Space::kGm) {
      memory(access.space).MarkWritten(begin, bytes);
    } else {
      state_.written_gm.MarkWritten(*state_.gm.Find(begin, bytes), begin, bytes);
    }
    return true;
  });
}

void EmulatedCore::Trace(Pipe pipe, const char* name, const SourceLocation& where, uint64_t begin,
                         uint64_t end) {
  state_.ticks = std::max(state_.ticks, end);
  if (state_.config.trace == nullptr) return;
  state_.config.trace->Add({info_.index, pipe, name, where, begin, end});
}

}  // namespace sfmla::sim
