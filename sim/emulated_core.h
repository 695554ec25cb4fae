// SPDX-License-Identifier: Apache-2.0
// One core of a launch: the program's fiber, the pipes' queues, the core's memories and flags.
//
// The program issues, pipes execute. A pipe executes its queue in order, one instruction at a time;
// what order the pipes take among each other is the scheduler's choice, and orders the chip would
// not guarantee are found by vector clocks whatever the choice.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/access_log.h"
#include "sim/core.h"
#include "sim/data_cache.h"
#include "sim/fiber.h"
#include "sim/launch_state.h"
#include "sim/pipe_state.h"
#include "sim/unit_flags.h"

namespace sfmla::sim {

class EmulatedCore final : public Core {
 public:
  EmulatedCore(LaunchState& state, const CoreInfo& info);
  ~EmulatedCore() override;

  // What the scheduler does.
  void Start(const std::function<void()>& kernel);
  bool finished() const { return fiber_->finished(); }
  bool ProgramReady() const { return !fiber_->finished() && IsOver(wait_); }
  bool PipeReady(Pipe pipe) const;
  // Lets the program run until it waits, ends or, with seeds, has issued `burst` instructions.
  void RunProgram(uint64_t burst);
  // Executes the head of a ready pipe's queue.
  void StepPipe(Pipe pipe);
  // Makes the program leave all its functions.
  void Unwind();

  // What reports show.
  const Wait& wait() const { return wait_; }
  const PipeState& pipe(Pipe pipe) const { return pipes_[static_cast<size_t>(pipe)]; }
  const EventFlag& flag(AscendC::HardEvent event, int id) const {
    return flags_[static_cast<size_t>(event)][static_cast<size_t>(id)];
  }

  const CoreInfo& info() const override { return info_; }
  const LaunchConfig& launch() const override { return state_.config; }
  Memory& memory(Space space) override { return *memories_[static_cast<size_t>(space)]; }
  ScalarState& scalar_state() override { return scalar_state_; }
  bool checks() const override { return state_.config.checks; }
  void Issue(Instruction instruction) override;
  void ScalarReadLocal(const SourceLocation& where, const Operand& tensor, uint64_t offset,
                       void* value, uint64_t bytes) override;
  void ScalarWriteLocal(const SourceLocation& where, const Operand& tensor, uint64_t offset,
                        const void* value, uint64_t bytes) override;
  void ScalarReadGm(const SourceLocation& where, uint64_t address, void* value,
                    uint64_t bytes) override;
  void ScalarWriteGm(const SourceLocation& where, uint64_t address, const void* value,
                     uint64_t bytes) override;
  void CleanLine(const SourceLocation& where, uint64_t address) override;
  void CleanCache(const SourceLocation& where) override;
  void DataSyncBarrier(const SourceLocation& where) override;
  void SetFlag(const SourceLocation& where, AscendC::HardEvent event, int id) override;
  void WaitFlag(const SourceLocation& where, AscendC::HardEvent event, int id) override;
  void Barrier(const SourceLocation& where, pipe_t pipe) override;
  void CrossCoreSet(const SourceLocation& where, int mode, pipe_t pipe, int id) override;
  void CrossCoreWait(const SourceLocation& where, int id) override;

 private:
  PipeState& At(Pipe pipe) { return pipes_[static_cast<size_t>(pipe)]; }
  PipeState& scalar() { return At(Pipe::kS); }
  EventFlag& At(AscendC::HardEvent event, int id) {
    return flags_[static_cast<size_t>(event)][static_cast<size_t>(id)];
  }
  // Destructors of a program that a fault ended issue nothing.
  bool Unwinding() const;
  [[noreturn]] void Refuse(const Instruction& instruction, const std::string& reason) const;

  // emulated_core.cpp: the program's side.
  void Enqueue(QueueEntry entry);
  void BlockUntil(Wait wait);
  bool IsOver(const Wait& wait) const;
  void RunReadyPipes();
  void EndProgram();

  // emulated_core_execute.cpp: the pipes' side.
  void Execute(const Instruction& instruction, PipeState& pipe, uint64_t* ticks);
  void ExecuteControl(const QueueEntry& entry, PipeState& pipe, uint64_t* ticks);
  void CheckAccesses(const Instruction& instruction, const Accessor& accessor);
  void CheckWritten(const Instruction& instruction, const Access& access);
  void MarkWritten(const Access& access);
  void Trace(Pipe pipe, const char* name, const SourceLocation& where, uint64_t begin,
             uint64_t end);

  // emulated_core_bounds.cpp
  void CheckPipe(const Instruction& instruction) const;
  void CheckBounds(const Instruction& instruction) const;
  void CheckGmRun(const Instruction& instruction, const Access& access, uint64_t begin,
                  uint64_t bytes) const;

  // emulated_core_sync.cpp
  void CheckEvent(const SourceLocation& where, const char* name, AscendC::HardEvent event,
                  int id) const;
  void CheckCrossMode(const SourceLocation& where, int mode, pipe_t pipe) const;
  void RaiseFlag(const Instruction& instruction, const Control& control, PipeState& pipe,
                 uint64_t ticks);
  void CheckConsumed(const Instruction& instruction, const Control& control,
                     const PipeState& pipe) const;
  std::shared_ptr<const Clock> ScalarSnapshot();
  void ScalarLearns(const Clock& known);
  Clock Published(const PipeState& pipe, Pipe which) const;
  std::string LeftoverText() const;

  // emulated_core_scalar.cpp
  void RecordScalar(const char* name, const SourceLocation& where, const Access& access,
                    Pipe component, bool rewrite);
  void WriteBack(const SourceLocation& where, CacheLine& line);
  void CheckNotStale(const SourceLocation& where, const CacheLine& line, uint64_t mask) const;

  LaunchState& state_;
  const CoreInfo& info_;
  std::unique_ptr<Fiber> fiber_;
  uint64_t burst_ = 0;
  Wait wait_;
  std::array<PipeState, kComponents> pipes_;
  uint64_t issued_ = 0;
  std::shared_ptr<const Clock> snapshot_;  // of what the scalar unit knows; null when outdated
  std::array<std::array<EventFlag, kEventIds>, kHardEvents> flags_;
  std::array<std::unique_ptr<Memory>, kSpaces> memories_;
  std::vector<AccessLog> logs_;  // by Space; that of GM is shared
  UnitFlags unit_flags_;
  DataCache cache_;
  ScalarState scalar_state_;
};

}  // namespace sfmla::sim
