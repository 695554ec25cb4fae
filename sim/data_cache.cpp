// SPDX-License-Identifier: Apache-2.0
#include "sim/data_cache.h"

#include <cstring>

namespace sfmla::sim {

uint64_t DataCache::MaskOf(uint64_t address, uint64_t bytes) {
  const uint64_t ones = bytes == kLineBytes ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
  return ones << address % kLineBytes;
}

CacheLine* DataCache::Find(uint64_t address) {
  const auto found = lines_.find(LineOf(address));
  return found == lines_.end() ? nullptr : &found->second;
}

CacheLine& DataCache::Fetch(uint64_t address, const GmMap& gm) {
  const auto [found, added] = lines_.try_emplace(LineOf(address));
  CacheLine& line = found->second;
  if (!added) return line;
  line.address = LineOf(address);
  for (uint64_t i = 0; i < kLineBytes; ++i) {
    if (gm.Find(line.address + i, 1) == nullptr) continue;
    line.valid |= uint64_t{1} << i;
    line.data[i] = *reinterpret_cast<const std::byte*>(line.address + i);
  }
  return line;
}

const CacheLine* DataCache::AnyDirty() const {
  for (const auto& [address, line] : lines_) {
    if (line.dirty != 0) return &line;
  }
  return nullptr;
}

std::optional<uint64_t> DataCache::Difference(const CacheLine& line, uint64_t mask) {
  for (uint64_t i = 0; i < kLineBytes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (line.data[i] != *reinterpret_cast<const std::byte*>(line.address + i)) {
      return line.address + i;
    }
  }
  return std::nullopt;
}

}  // namespace sfmla::sim
