// SPDX-License-Identifier: Apache-2.0
// The parts of global memory that a launch may touch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/memory.h"

namespace sfmla::sim {

class GmMap {
 public:
  explicit GmMap(std::span<const GmRange> ranges);

  // One sentence if ranges overlap, else empty.
  std::string OverlapText() const;
  // The range that holds all of [address, address + bytes), else nullptr.
  const GmRange* Find(uint64_t address, uint64_t bytes) const;
  // "workspace+0x40" for an address in a range, else the number and the nearest range.
  std::string Describe(uint64_t address) const;
  std::span<const GmRange> ranges() const { return ranges_; }

 private:
  std::vector<GmRange> ranges_;  // by address
};

inline uint64_t BeginOf(const GmRange& range) { return reinterpret_cast<uint64_t>(range.address); }
inline uint64_t EndOf(const GmRange& range) { return BeginOf(range) + range.bytes; }

}  // namespace sfmla::sim
