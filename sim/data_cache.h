// SPDX-License-Identifier: Apache-2.0
// The scalar unit's private cache of global memory: nothing keeps it equal to memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "sim/gm_map.h"

namespace sfmla::sim {

inline constexpr uint64_t kLineBytes = 64;

struct CacheLine {
  uint64_t address = 0;  // of its first byte, a multiple of kLineBytes
  std::array<std::byte, kLineBytes> data{};
  uint64_t valid = 0;  // bit per byte: belongs to registered memory
  uint64_t dirty = 0;  // bit per byte: written here, not in memory yet
};

class DataCache {
 public:
  static uint64_t LineOf(uint64_t address) { return address / kLineBytes * kLineBytes; }
  static uint64_t MaskOf(uint64_t address, uint64_t bytes);

  CacheLine* Find(uint64_t address);
  // The line of `address`, read from memory unless it is here.
  CacheLine& Fetch(uint64_t address, const GmMap& gm);
  void Drop(uint64_t address) { lines_.erase(LineOf(address)); }
  // Any line, for cleaning all.
  CacheLine* Any() { return lines_.empty() ? nullptr : &lines_.begin()->second; }
  const CacheLine* AnyDirty() const;

  // The first byte among `mask` whose value here is not that in memory.
  static std::optional<uint64_t> Difference(const CacheLine& line, uint64_t mask);

 private:
  std::map<uint64_t, CacheLine> lines_;
};

}  // namespace sfmla::sim
