// SPDX-License-Identifier: Apache-2.0
#include "sim/gm_map.h"

#include <algorithm>
#include <ios>

#include "base/format.h"

namespace sfmla::sim {

GmMap::GmMap(std::span<const GmRange> ranges) {
  for (const GmRange& range : ranges) {
    if (range.bytes != 0) ranges_.push_back(range);
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const GmRange& a, const GmRange& b) { return BeginOf(a) < BeginOf(b); });
}

std::string GmMap::OverlapText() const {
  for (size_t i = 1; i < ranges_.size(); ++i) {
    if (EndOf(ranges_[i - 1]) > BeginOf(ranges_[i])) {
      return Str("GM ranges ", ranges_[i - 1].name, " and ", ranges_[i].name,
                 " overlap, ranges of a launch must be disjoint");
    }
  }
  return {};
}

const GmRange* GmMap::Find(uint64_t address, uint64_t bytes) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t value, const GmRange& range) { return value < BeginOf(range); });
  if (after == ranges_.begin()) return nullptr;
  const GmRange& range = *(after - 1);
  const uint64_t offset = address - BeginOf(range);
  return offset <= range.bytes && bytes <= range.bytes - offset ? &range : nullptr;
}

std::string GmMap::Describe(uint64_t address) const {
  if (const GmRange* range = Find(address, 1)) {
    return Str(range->name, "+0x", std::hex, address - BeginOf(*range));
  }
  const GmRange* nearest = nullptr;
  uint64_t distance = UINT64_MAX;
  for (const GmRange& range : ranges_) {
    const uint64_t here =
        address < BeginOf(range) ? BeginOf(range) - address : address - EndOf(range);
    if (here >= distance) continue;
    nearest = &range;
    distance = here;
  }
  if (nearest == nullptr) return Str("0x", std::hex, address, " (no memory is registered)");
  const bool before = address < BeginOf(*nearest);
  return Str("0x", std::hex, address, std::dec, " (", distance, " bytes ",
             before ? "before " : "past the end of ", nearest->name, ")");
}

}  // namespace sfmla::sim
