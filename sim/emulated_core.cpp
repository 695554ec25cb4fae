// SPDX-License-Identifier: Apache-2.0
#include "sim/emulated_core.h"

#include <exception>
#include <utility>

#include "sim/active_core.h"
#include "sim/fault.h"

namespace sfmla::sim {

EmulatedCore::EmulatedCore(LaunchState& state, const CoreInfo& info)
    : state_(state), info_(info), unit_flags_(state.chip.bytes[static_cast<size_t>(Space::kL0C)]) {
  const bool cube = info.kind == CoreKind::kCube;
  for (int i = 0; i < kSpaces; ++i) {
    const auto space = static_cast<Space>(i);
    const bool has = space != Space::kGm && (space != Space::kUb) == cube;
    uint64_t bytes = has ? state.chip.bytes[i] : 0;
    if (space == Space::kUb && has && state.config.ub_limit_bytes != 0) {
      bytes = std::min(bytes, state.config.ub_limit_bytes);
    }
    memories_[static_cast<size_t>(i)] = std::make_unique<Memory>(space, bytes, state.config.checks);
    logs_.push_back(AccessLog::OnChip(state.config.checks ? bytes : 0));
  }
  for (PipeState& pipe : pipes_) pipe.known = Clock(state.components);
}

EmulatedCore::~EmulatedCore() = default;

void EmulatedCore::Start(const std::function<void()>& kernel) {
  fiber_ = std::make_unique<Fiber>([this, &kernel] {
    kernel();
    EndProgram();
  });
}

void EmulatedCore::RunProgram(uint64_t burst) {
  const ActiveCore active(this);
  burst_ = burst;
  fiber_->Resume();
}

void EmulatedCore::Unwind() {
  const ActiveCore active(this);
  fiber_->Abandon();
}

void EmulatedCore::EndProgram() {
  BlockUntil({.kind = Wait::Kind::kPipesEmpty, .site = {"kernel end", {}}});
  if (!checks()) return;
  if (const std::string text = LeftoverText(); !text.empty()) throw SimFault(text);
}

void EmulatedCore::Issue(Instruction instruction) {
  if (Unwinding()) return;
  CheckPipe(instruction);
  CheckBounds(instruction);
  Enqueue({.instruction = std::move(instruction), .control = {}, .scalar_knew = nullptr});
}

void EmulatedCore::Enqueue(QueueEntry entry) {
  const Pipe which = entry.instruction.pipe;
  if (At(which).queue.size() >= kQueueDepth) {
    BlockUntil({.kind = Wait::Kind::kQueueSpace,
                .pipe = which,
                .site = {entry.instruction.name, entry.instruction.where}});
  }
  entry.sequence = ++issued_;
  entry.issue_ticks = ++scalar().ticks;
  if (checks()) entry.scalar_knew = ScalarSnapshot();
  At(which).queue.push_back(std::move(entry));
  if (which == Pipe::kS) {
    StepPipe(Pipe::kS);
  } else if (state_.program_order()) {
    RunReadyPipes();
  } else if (burst_-- <= 1) {
    fiber_->Yield();
  }
}

// Oldest first, so that a run in program order is one.
void EmulatedCore::RunReadyPipes() {
  for (;;) {
    std::optional<Pipe> oldest;
    for (int i = 0; i < kPipes; ++i) {
      const auto which = static_cast<Pipe>(i);
      if (!PipeReady(which)) continue;
      if (!oldest || At(which).queue.front().sequence < At(*oldest).queue.front().sequence) {
        oldest = which;
      }
    }
    if (!oldest) return;
    StepPipe(*oldest);
  }
}

void EmulatedCore::BlockUntil(Wait wait) {
  if (state_.program_order()) RunReadyPipes();
  wait_ = std::move(wait);
  while (!IsOver(wait_)) fiber_->Yield();
  wait_ = {};
}

bool EmulatedCore::IsOver(const Wait& wait) const {
  switch (wait.kind) {
    case Wait::Kind::kQueueSpace:
      return pipe(wait.pipe).queue.size() < kQueueDepth;
    case Wait::Kind::kPipesEmpty:
      return std::all_of(pipes_.begin(), pipes_.end(),
                         [](const PipeState& state) { return state.queue.empty(); });
    case Wait::Kind::kFlag:
      return flag(wait.event, wait.id).set;
    case Wait::Kind::kCrossFlag:
      return state_.cross.Count(info_.index, wait.id) != 0;
    default:
      return true;
  }
}

bool EmulatedCore::PipeReady(Pipe which) const {
  const std::deque<QueueEntry>& queue = pipe(which).queue;
  if (queue.empty()) return false;
  const QueueEntry& head = queue.front();
  if (head.control.kind == Control::Kind::kWaitFlag) {
    return flag(head.control.event, head.control.id).set;
  }
  return !head.instruction.unit_flag || unit_flags_.Ready(*head.instruction.unit_flag);
}

bool EmulatedCore::Unwinding() const {
  return std::uncaught_exceptions() > state_.exceptions_before;
}

void EmulatedCore::Refuse(const Instruction& instruction, const std::string& reason) const {
  Fault(instruction.pipe, instruction.name, instruction.where, reason);
}

}  // namespace sfmla::sim
