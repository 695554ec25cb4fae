// SPDX-License-Identifier: Apache-2.0
// Which program or pipe goes next.
#pragma once

#include <functional>
#include <vector>

#include "sim/launch_state.h"

namespace sfmla::sim {

// Runs all cores of a launch to their ends. Throws what the kernel or the emulator throws: a
// SimFault for a broken rule, also when nobody can go on.
class Scheduler {
 public:
  explicit Scheduler(LaunchState& state);
  void Run();

 private:
  // One thing that can happen next; kS is the core's program.
  struct Actor {
    size_t core;
    Pipe pipe;
  };

  void RunInProgramOrder();
  void RunSeeded();
  bool AllFinished() const;
  bool IsSlow(const Actor& actor) const;
  void DrawWeights(size_t core);
  // Adds the actors of a core that can go now.
  void Collect(size_t core, bool slow, std::vector<Actor>* actors) const;
  bool Pick(Actor* actor);
  void Step(const Actor& actor);
  void Deliver(size_t index);

  LaunchState& state_;
  std::vector<std::array<uint8_t, kPipes>> weights_;  // per core and pipe
};

}  // namespace sfmla::sim
