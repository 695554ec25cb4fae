// SPDX-License-Identifier: Apache-2.0
#include "sim/cross_flags.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace sfmla::sim {

CrossFlags::CrossFlags(const std::vector<const CoreInfo*>& cores)
    : cores_(cores), counters_(cores.size()) {}

// The cores that must all have set the flag before anybody sees it.
std::vector<int> CrossFlags::Partners(const CrossSet& set) const {
  const CoreInfo& sender = *cores_[static_cast<size_t>(set.core)];
  std::vector<int> partners;
  for (const CoreInfo* core : cores_) {
    const bool counts = set.mode == 0 || core->group == sender.group;
    if (core->kind == sender.kind && counts) partners.push_back(core->index);
  }
  return partners;
}

std::vector<int> CrossFlags::Receivers(const CrossSet& set) const {
  if (set.mode != 2) return Partners(set);
  const CoreInfo& sender = *cores_[static_cast<size_t>(set.core)];
  std::vector<int> receivers;
  for (const CoreInfo* core : cores_) {
    const bool receives = core->group == sender.group && core->kind != sender.kind;
    if (receives) receivers.push_back(core->index);
  }
  return receivers;
}

std::string CrossFlags::CheckMode(int core, const CrossSet& set) {
  Counter& counter = At(core, set.id);
  const bool in_use = !counter.arrived.empty() || !counter.announced.empty();
  if (in_use && counter.mode != set.mode) {
    return Str("flag ", set.id, " of ", cores_[static_cast<size_t>(core)]->label,
               " is in use in mode ", counter.mode, ", mode ", set.mode,
               " is allowed once all its sets are consumed");
  }
  counter.mode = set.mode;
  return {};
}

std::string CrossFlags::Give(int core, const CrossSet& set) {
  if (std::string text = CheckMode(core, set); !text.empty()) return text;
  Counter& counter = At(core, set.id);
  if (counter.arrived.size() == kMaxUnconsumedSets) {
    return Str("flag ", set.id, " of ", cores_[static_cast<size_t>(core)]->label,
               " has 15 unconsumed sets, a 16th does not fit its counter");
  }
  counter.arrived.push_back(set);
  return {};
}

std::string CrossFlags::Arrive(size_t index, CrossSet* broken_by) {
  CrossSet set = std::move(on_the_way_[index]);
  on_the_way_.erase(on_the_way_.begin() + static_cast<std::ptrdiff_t>(index));
  *broken_by = set;
  if (std::string text = CheckMode(set.core, set); !text.empty()) return text;
  At(set.core, set.id).announced.push_back(set);

  const std::vector<int> partners = Partners(set);
  const bool complete = std::all_of(partners.begin(), partners.end(),
                                    [&](int core) { return !At(core, set.id).announced.empty(); });
  if (!complete) return {};
  CrossSet all = set;
  for (const int core : partners) {
    std::deque<CrossSet>& announced = At(core, set.id).announced;
    all.known.Join(announced.front().known);
    all.ticks = std::max(all.ticks, announced.front().ticks);
    announced.pop_front();
  }
  for (const int core : Receivers(set)) {
    if (std::string text = Give(core, all); !text.empty()) return text;
  }
  return {};
}

CrossSet CrossFlags::Take(int core, int id) {
  std::deque<CrossSet>& arrived = At(core, id).arrived;
  CrossSet set = std::move(arrived.front());
  arrived.pop_front();
  return set;
}

std::string CrossFlags::LeftoverText() const {
  for (const CoreInfo* core : cores_) {
    for (int id = 0; id < kCrossFlagIds; ++id) {
      const Counter& counter = At(core->index, id);
      if (!counter.arrived.empty()) {
        return Str("kernel end: cross-core flag ", id, " of ", core->label, " holds ",
                   counter.arrived.size(), " sets nobody waited for, 0 are allowed");
      }
      if (!counter.announced.empty()) {
        return Str("kernel end: cross-core flag ", id, " was set ", counter.announced.size(),
                   " times by ", core->label, " alone, in mode ", counter.mode,
                   " its partners must set it as often");
      }
    }
  }
  return {};
}

}  // namespace sfmla::sim
