// SPDX-License-Identifier: Apache-2.0
// Vector clocks. A component is one pipe of one core; its time counts what it executed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/pipe.h"

namespace sfmla::sim {

constexpr uint16_t Component(int core, Pipe pipe) {
  return static_cast<uint16_t>(core * kComponents + static_cast<int>(pipe));
}
constexpr int CoreOf(uint16_t component) { return component / kComponents; }
constexpr Pipe PipeOfComponent(uint16_t component) {
  return static_cast<Pipe>(component % kComponents);
}

// Knows, per component, up to which time everything is known to be complete. Empty stands for
// all zeros.
class Clock {
 public:
  Clock() = default;
  explicit Clock(size_t components) : times_(components, 0) {}

  uint32_t At(uint16_t component) const {
    return component < times_.size() ? times_[component] : 0;
  }
  void Set(uint16_t component, uint32_t time) { times_[component] = time; }
  void Join(const Clock& other) {
    if (times_.size() < other.times_.size()) times_.resize(other.times_.size(), 0);
    for (size_t i = 0; i < other.times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }

 private:
  std::vector<uint32_t> times_;
};

}  // namespace sfmla::sim
