// SPDX-License-Identifier: Apache-2.0
#include "sim/written_gm.h"

#include "sim/bit_range.h"

namespace sfmla::sim {

WrittenGm::WrittenGm(const GmMap& map) : map_(map) {
  for (const GmRange& range : map.ranges()) {
    const bool unwritten =
        range.kind == GmRange::Kind::kOutput || range.kind == GmRange::Kind::kWorkspace;
    bits_.emplace_back(unwritten ? (range.bytes + 63) / 64 : 0, 0);
  }
}

bool WrittenGm::Written(const GmRange& range, uint64_t address, uint64_t bytes) const {
  const std::vector<uint64_t>& bits = bits_[static_cast<size_t>(&range - map_.ranges().data())];
  return bits.empty() || AllBitsSet(bits.data(), address - BeginOf(range), bytes);
}

void WrittenGm::MarkWritten(const GmRange& range, uint64_t address, uint64_t bytes) {
  std::vector<uint64_t>& bits = bits_[static_cast<size_t>(&range - map_.ranges().data())];
  if (!bits.empty()) AssignBits(bits.data(), address - BeginOf(range), bytes, true);
}

}  // namespace sfmla::sim
