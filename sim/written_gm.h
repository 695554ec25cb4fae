// SPDX-License-Identifier: Apache-2.0
// Which bytes of global memory were ever written, where a launch did not begin with them written.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/gm_map.h"

namespace sfmla::sim {

class WrittenGm {
 public:
  explicit WrittenGm(const GmMap& map);

  // Both take bytes inside of one range.
  bool Written(const GmRange& range, uint64_t address, uint64_t bytes) const;
  void MarkWritten(const GmRange& range, uint64_t address, uint64_t bytes);

 private:
  const GmMap& map_;
  std::vector<std::vector<uint64_t>> bits_;  // per range of the map; empty when all is written
};

}  // namespace sfmla::sim
