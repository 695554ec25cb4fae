// SPDX-License-Identifier: Apache-2.0
#include "sim/report.h"

#include "base/format.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"
#include "sim/hard_event.h"

namespace sfmla::sim {

namespace {

// The end of a kernel has no line.
std::string At(const Site& site) {
  return site.where.line() == 0 ? site.name : Str(site.name, " at ", SiteText(site.where));
}

bool EventExists(Pipe source, Pipe destination) {
  for (const EventPipes& pipes : kEventPipes) {
    if (pipes.source == source && pipes.destination == destination) return true;
  }
  return false;
}

// What would have ordered the two, on one core.
std::string MissingInCore(Pipe first, Pipe second) {
  if (first == Pipe::kCache) return "no DataSyncBarrier and S flag between them";
  if (second == Pipe::kCache) second = Pipe::kS;
  if (first == second) return Str("no PipeBarrier<PIPE_", PipeName(first), "> between them");
  if (EventExists(first, second)) return Str("no ", EventName(first, second), " wait");
  return "no PipeBarrier<PIPE_ALL> between them";
}

std::string WaitText(const Wait& wait) {
  switch (wait.kind) {
    case Wait::Kind::kQueueSpace:
      return Str("issues ", At(wait.site), " into the full queue of ", PipeName(wait.pipe));
    case Wait::Kind::kPipesEmpty:
      return Str("waits at ", At(wait.site), " until all pipes are empty");
    case Wait::Kind::kFlag:
      return Str("waits in ", At(wait.site), " for ", EventName(wait.event), " flag ", wait.id);
    default:
      return Str("waits in ", At(wait.site), " for cross-core flag ", wait.id);
  }
}

std::string HeadText(const PipeState& pipe) {
  const QueueEntry& head = pipe.queue.front();
  const std::string what = At({head.instruction.name, head.instruction.where});
  if (head.control.kind == Control::Kind::kWaitFlag) {
    return Str(what, " for ", EventName(head.control.event), " flag ", head.control.id);
  }
  if (head.instruction.unit_flag) {
    const bool full = head.instruction.unit_flag->wants_full;
    return Str(what, " for L0C units to be ", full ? "full" : "free");
  }
  return what;
}

// The pipe whose wait is behind a program's wait, if there is one.
const PipeState* StuckPipe(const EmulatedCore& core) {
  for (int i = 1; i < kPipes; ++i) {
    const PipeState& pipe = core.pipe(static_cast<Pipe>(i));
    if (!pipe.queue.empty()) return &pipe;
  }
  return nullptr;
}

std::string FlagsText(const EmulatedCore& core) {
  std::string text;
  for (int event = 0; event < kHardEvents; ++event) {
    for (int id = 0; id < kEventIds; ++id) {
      const auto hard_event = static_cast<AscendC::HardEvent>(event);
      if (core.flag(hard_event, id).set) text += Str(" ", EventName(hard_event), ":", id);
    }
  }
  return text.empty() ? " none" : text;
}

bool Writes(const Instruction& instruction, Space space, uint64_t address) {
  bool writes = false;
  for (const Access& access : instruction.accesses) {
    if (!access.writes() || access.space != space) continue;
    VisitRuns(access, [&](uint64_t begin, uint64_t bytes) {
      writes = writes || (address >= begin && address - begin < bytes);
      return !writes;
    });
  }
  return writes;
}

// What a reader on one core and pipe lacks to be behind a writer on another.
std::string MissingText(const CoreInfo& first_core, Pipe first, const CoreInfo& second_core,
                        Pipe second) {
  if (first_core.index == second_core.index) return MissingInCore(first, second);
  return Str("no cross-core flag set by ", PipeName(first), " of ", first_core.label,
             " after it has reached ", second_core.label);
}

}  // namespace

std::string QueuedWriterText(const LaunchState& state, const CoreInfo& reader, Pipe pipe,
                             Space space, uint64_t address) {
  for (const auto& core : state.cores) {
    if (space != Space::kGm && core->info().index != reader.index) continue;
    for (int i = 1; i < kPipes; ++i) {
      const auto which = static_cast<Pipe>(i);
      for (const QueueEntry& entry : core->pipe(which).queue) {
        const Instruction& writer = entry.instruction;
        if (!Writes(writer, space, address)) continue;
        return Str("; the ", PipeName(which), " write by ", At({writer.name, writer.where}), " of ",
                   core->info().label, " is not ordered before this ", PipeName(pipe),
                   " read: ", MissingText(core->info(), which, reader, pipe));
      }
    }
  }
  return {};
}

std::string RangeText(const LaunchState& state, Space space, uint64_t begin, uint64_t bytes) {
  if (space == Space::kGm) return Str(bytes, " bytes of GM at ", state.gm.Describe(begin));
  return Str(bytes, " bytes of ", SpaceName(space), " at ", begin);
}

std::string RaceText(const LaunchState& state, const Access& access, const Accessor& accessor,
                     const Conflict& conflict) {
  const CoreInfo& first_core = state.InfoOf(conflict.other.component);
  const CoreInfo& second_core = state.InfoOf(accessor.component);
  const Pipe first = PipeOfComponent(conflict.other.component);
  const Pipe second = PipeOfComponent(accessor.component);
  return Str(first_core.label, " ", PipeName(first), conflict.other_writes ? " write" : " read",
             " of ", RangeText(state, access.space, conflict.begin, conflict.bytes), " by ",
             At(state.sites.At(conflict.other.site)), " is not ordered before ", second_core.label,
             " ", PipeName(second), access.writes() ? " write" : " read", " by ",
             At(state.sites.At(accessor.site)), ": ",
             MissingText(first_core, first, second_core, second));
}

std::string DeadlockText(const LaunchState& state) {
  int stuck = 0;
  const EmulatedCore* first = nullptr;
  for (const auto& core : state.cores) {
    if (core->finished()) continue;
    if (first == nullptr) first = core.get();
    ++stuck;
  }
  std::string text = Str("deadlock: ", stuck, " cores cannot go on; ", first->info().label, " ",
                         WaitText(first->wait()));
  if (const PipeState* pipe = StuckPipe(*first)) text += Str(", behind ", HeadText(*pipe));
  return text;
}

std::string StateText(const LaunchState& state) {
  std::string text;
  for (const auto& core : state.cores) {
    if (core->finished() || core->wait().kind == Wait::Kind::kNothing) continue;
    text += Str(core->info().label, ": ", WaitText(core->wait()),
                "\n  flags set:", FlagsText(*core), "\n");
    for (int i = 1; i < kPipes; ++i) {
      const PipeState& pipe = core->pipe(static_cast<Pipe>(i));
      if (pipe.queue.empty() && pipe.recent.empty()) continue;
      text += Str("  ", PipeName(static_cast<Pipe>(i)), ": ", pipe.queue.size(), " queued");
      if (!pipe.queue.empty()) text += Str(", first ", HeadText(pipe));
      text += "; done last:";
      for (const Site& site : pipe.recent) text += Str(" ", At(site), ",");
      text.back() = '\n';
      if (pipe.recent.empty()) text.insert(text.size() - 1, ": nothing");
    }
  }
  return text;
}

}  // namespace sfmla::sim
