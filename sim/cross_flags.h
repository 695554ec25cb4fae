// SPDX-License-Identifier: Apache-2.0
// Flags between cores: per core 16 counters of 4 bits.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/clock.h"
#include "sim/core.h"
#include "sim/random.h"

namespace sfmla::sim {

inline constexpr int kCrossFlagIds = 16;
inline constexpr size_t kMaxUnconsumedSets = 15;

// One CrossCoreSetFlag, executed by its pipe and on its way.
struct CrossSet {
  int core = 0;  // CoreInfo::index of the sender
  int mode = 0;
  int id = 0;
  Clock known;  // what the sender's pipe had completed
  uint64_t ticks = 0;
  uint32_t site = 0;
};

class CrossFlags {
 public:
  explicit CrossFlags(const std::vector<const CoreInfo*>& cores);

  // Sets arrive in the order the caller calls Arrive, not that of Send.
  void Send(CrossSet set) { on_the_way_.push_back(std::move(set)); }
  size_t on_the_way() const { return on_the_way_.size(); }
  // Delivers one of the sets on the way; the text of the rule it breaks, else "". `broken_by` is
  // then that set.
  std::string Arrive(size_t index, CrossSet* broken_by);

  // Sets that a core has received and not consumed.
  size_t Count(int core, int id) const { return At(core, id).arrived.size(); }
  // The oldest; there must be one.
  CrossSet Take(int core, int id);
  // What is left over once all cores have ended, else "".
  std::string LeftoverText() const;

 private:
  struct Counter {
    std::deque<CrossSet> arrived;    // to be waited for by this core
    std::deque<CrossSet> announced;  // set by this core, its partners have not set yet
    int mode = -1;
  };

  Counter& At(int core, int id) { return counters_[static_cast<size_t>(core)][Index(id)]; }
  const Counter& At(int core, int id) const {
    return counters_[static_cast<size_t>(core)][Index(id)];
  }
  static size_t Index(int id) { return static_cast<size_t>(id); }
  std::vector<int> Partners(const CrossSet& set) const;
  std::vector<int> Receivers(const CrossSet& set) const;
  std::string Give(int core, const CrossSet& set);
  std::string CheckMode(int core, const CrossSet& set);

  std::vector<const CoreInfo*> cores_;
  std::vector<std::array<Counter, kCrossFlagIds>> counters_;
  std::vector<CrossSet> on_the_way_;
};

}  // namespace sfmla::sim
