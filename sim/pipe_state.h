// SPDX-License-Identifier: Apache-2.0
// The queue of one pipe of one core, and what the pipe knows.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "sim/clock.h"
#include "sim/hard_event.h"
#include "sim/instruction.h"
#include "sim/site_table.h"

namespace sfmla::sim {

inline constexpr size_t kQueueDepth = 32;
inline constexpr size_t kRecentInstructions = 16;  // of a pipe, kept for the deadlock report

struct Control {
  enum class Kind : uint8_t { kNone, kSetFlag, kWaitFlag, kBarrier, kCrossSet };
  Kind kind = Kind::kNone;
  AscendC::HardEvent event = AscendC::HardEvent::MAX;
  int id = 0;    // of the event, or of the cross-core flag
  int mode = 0;  // of the cross-core flag
};

struct QueueEntry {
  Instruction instruction;
  Control control;
  std::shared_ptr<const Clock> scalar_knew = nullptr;  // when it was issued
  uint64_t sequence = 0;                               // order of issue on its core
  uint64_t issue_ticks = 0;
};

struct PipeState {
  std::deque<QueueEntry> queue;
  Clock known;                          // complete before the next instruction begins
  uint32_t now = 0;                     // instructions executed
  std::shared_ptr<const Clock> joined;  // last scalar clock that `known` contains
  uint64_t ticks = 0;                   // when the pipe is free
  std::deque<Site> recent;
};

// State of one (event, id): a bit.
struct EventFlag {
  bool set = false;
  Clock known;
  Site site;  // of the last set
  uint64_t ticks = 0;
  // The last wait: when its pipe did it, and where the program issued it.
  uint32_t consumed = 0;
  Site consumer;
};

// What a scalar program that does not run waits for.
struct Wait {
  enum class Kind : uint8_t { kNothing, kQueueSpace, kPipesEmpty, kFlag, kCrossFlag };
  Kind kind = Kind::kNothing;
  Pipe pipe = Pipe::kS;                                // kQueueSpace
  AscendC::HardEvent event = AscendC::HardEvent::MAX;  // kFlag
  int id = 0;                                          // kFlag, kCrossFlag
  Site site{};
};

}  // namespace sfmla::sim
