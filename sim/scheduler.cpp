// SPDX-License-Identifier: Apache-2.0
#include "sim/scheduler.h"

#include <algorithm>

#include "base/format.h"
#include "sim/emulated_core.h"
#include "sim/fault.h"
#include "sim/report.h"

namespace sfmla::sim {

namespace {

constexpr uint64_t kLongestProgramBurst = 64;  // instructions issued in one go
constexpr uint64_t kLongestPipeBurst = 8;      // instructions executed in one go
constexpr int kCoreTries = 4;                  // random cores asked before all are
constexpr uint64_t kStepsPerWeights = 64;      // mean number of steps between new weights

}  // namespace

Scheduler::Scheduler(LaunchState& state) : state_(state), weights_(state.cores.size()) {}

void Scheduler::Run() {
  if (state_.program_order()) {
    RunInProgramOrder();
  } else {
    RunSeeded();
  }
  while (state_.cross.on_the_way() != 0) Deliver(0);
  if (!state_.config.checks) return;
  if (const std::string text = state_.cross.LeftoverText(); !text.empty()) throw SimFault(text);
}

bool Scheduler::AllFinished() const {
  return std::all_of(state_.cores.begin(), state_.cores.end(),
                     [](const auto& core) { return core->finished(); });
}

void Scheduler::RunInProgramOrder() {
  while (!AllFinished()) {
    bool moved = false;
    for (const auto& core : state_.cores) {
      while (core->ProgramReady()) {
        core->RunProgram(0);
        moved = true;
        while (state_.cross.on_the_way() != 0) Deliver(0);
      }
    }
    if (!moved) throw SimFault(DeadlockText(state_));
  }
}

void Scheduler::RunSeeded() {
  for (size_t core = 0; core < state_.cores.size(); ++core) DrawWeights(core);
  while (!AllFinished()) {
    const size_t on_the_way = state_.cross.on_the_way();
    if (on_the_way != 0 && state_.random.OneIn(8)) Deliver(state_.random.Below(on_the_way));
    Actor actor{};
    if (Pick(&actor)) {
      Step(actor);
    } else if (state_.cross.on_the_way() != 0) {
      Deliver(state_.random.Below(state_.cross.on_the_way()));
    } else {
      throw SimFault(DeadlockText(state_));
    }
  }
}

// Some pipes are eager for a while and some lazy, so that runs get far apart.
void Scheduler::DrawWeights(size_t core) {
  constexpr uint8_t kWeights[] = {1, 4, 16, 64};
  for (uint8_t& weight : weights_[core]) weight = kWeights[state_.random.Below(4)];
}

bool Scheduler::IsSlow(const Actor& actor) const {
  const SlowActor& slow = state_.config.slow;
  switch (slow.kind) {
    case SlowActor::Kind::kPipe:
      return actor.pipe == slow.pipe;
    case SlowActor::Kind::kCore:
      return static_cast<int>(actor.core) == slow.core;
    default:
      return false;
  }
}

void Scheduler::Collect(size_t core, bool slow, std::vector<Actor>* actors) const {
  const EmulatedCore& candidate = *state_.cores[core];
  if (candidate.finished()) return;
  for (int i = 0; i < kPipes; ++i) {
    const Actor actor{core, static_cast<Pipe>(i)};
    const bool ready =
        i == 0 ? candidate.ProgramReady() : candidate.PipeReady(static_cast<Pipe>(i));
    if (ready && IsSlow(actor) == slow) actors->push_back(actor);
  }
}

bool Scheduler::Pick(Actor* actor) {
  std::vector<Actor> actors;
  for (int i = 0; i < kCoreTries && actors.empty(); ++i) {
    Collect(state_.random.Below(state_.cores.size()), false, &actors);
  }
  for (const bool slow : {false, true}) {
    if (!actors.empty()) break;
    for (size_t core = 0; core < state_.cores.size(); ++core) Collect(core, slow, &actors);
  }
  if (actors.empty()) return false;
  uint64_t total = 0;
  const auto weight = [&](const Actor& candidate) {
    return uint64_t{weights_[candidate.core][static_cast<size_t>(candidate.pipe)]};
  };
  for (const Actor& candidate : actors) total += weight(candidate);
  uint64_t point = state_.random.Below(total);
  size_t chosen = 0;
  while (point >= weight(actors[chosen])) point -= weight(actors[chosen++]);
  *actor = actors[chosen];
  return true;
}

void Scheduler::Step(const Actor& actor) {
  EmulatedCore& core = *state_.cores[actor.core];
  if (state_.random.OneIn(kStepsPerWeights)) DrawWeights(actor.core);
  if (actor.pipe == Pipe::kS) {
    core.RunProgram(1 + state_.random.Below(kLongestProgramBurst));
    return;
  }
  uint64_t burst = 1 + state_.random.Below(kLongestPipeBurst);
  while (burst-- != 0 && core.PipeReady(actor.pipe)) core.StepPipe(actor.pipe);
}

void Scheduler::Deliver(size_t index) {
  CrossSet set;
  const std::string text = state_.cross.Arrive(index, &set);
  if (text.empty()) return;
  const Site& site = state_.sites.At(set.site);
  throw SimFault(Str(state_.infos[static_cast<size_t>(set.core)].label, " ", site.name, " at ",
                     SiteText(site.where), ": ", text));
}

}  // namespace sfmla::sim
