// SPDX-License-Identifier: Apache-2.0
// One bit per 512 bytes of L0C, by which Mmad and Fixpipe hand tiles to each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "sim/clock.h"
#include "sim/instruction.h"

namespace sfmla::sim {

inline constexpr uint64_t kUnitBytes = 512;

class UnitFlags {
 public:
  explicit UnitFlags(uint64_t l0c_bytes) : units_(l0c_bytes / kUnitBytes) {}

  bool Ready(const UnitFlagUse& use) const {
    for (uint64_t i = First(use); i < End(use); ++i) {
      if (units_[i].full != use.wants_full) return false;
    }
    return true;
  }
  // What the units' last user knew, and when it ended.
  void Acquire(const UnitFlagUse& use, Clock* known, uint64_t* ticks) const {
    const Clock* joined = nullptr;
    for (uint64_t i = First(use); i < End(use); ++i) {
      *ticks = std::max(*ticks, units_[i].ticks);
      if (!units_[i].known || units_[i].known.get() == joined) continue;
      joined = units_[i].known.get();
      known->Join(*joined);
    }
  }
  void Flip(const UnitFlagUse& use, std::shared_ptr<const Clock> known, uint64_t ticks) {
    for (uint64_t i = First(use); i < End(use); ++i) {
      units_[i] = {!use.wants_full, ticks, known};
    }
  }
  // What is wrong at the end of a kernel, else "".
  std::string LeftoverText() const {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].full) {
        return Str("kernel end: unit flag of L0C byte ", i * kUnitBytes,
                   " is full, a Fixpipe must have flipped it back");
      }
    }
    return {};
  }

 private:
  struct Unit {
    bool full = false;
    uint64_t ticks = 0;
    std::shared_ptr<const Clock> known;
  };

  static uint64_t First(const UnitFlagUse& use) { return use.begin / kUnitBytes; }
  static uint64_t End(const UnitFlagUse& use) {
    return (use.begin + use.bytes + kUnitBytes - 1) / kUnitBytes;
  }

  std::vector<Unit> units_;
};

}  // namespace sfmla::sim
