// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last: finds two accesses that nothing orders.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/clock.h"
#include "sim/instruction.h"

namespace sfmla::sim {

inline constexpr uint64_t kCellBytes = 32;

// An access in the past. `mask` has a bit per byte of the cell; an empty record has none.
struct Record {
  uint32_t time = 0;
  uint32_t mask = 0;
  uint32_t site = 0;
  uint16_t component = 0;
  bool atomic = false;
  // Bytes written back with their old values because they share a cache line: they clash with
  // writes, not with reads.
  bool rewrite = false;
};

// 32 bytes of memory. Records that a later one makes redundant are dropped without loss; when more
// than fit are unrelated the oldest is forgotten, which can hide a race and never invents one.
struct Cell {
  std::array<Record, 2> writes;
  std::array<Record, 4> reads;
};

// Who makes an access.
struct Accessor {
  uint16_t component = 0;
  uint32_t time = 0;
  uint32_t site = 0;
  const Clock* known = nullptr;  // everything in here is complete
  bool ordered_in_pipe = false;  // behind everything of its own component
  bool rewrite = false;
};

struct Conflict {
  Record other;
  bool other_writes = false;
  uint64_t begin = 0;  // of the bytes both touch, in one cell
  uint64_t bytes = 0;
};

// All accesses to one on-chip memory, or to global memory, which begins empty and grows by pages.
class AccessLog {
 public:
  static AccessLog OnChip(uint64_t bytes);
  static AccessLog Gm();

  // The first conflict of the access with earlier ones. Without one, the access is recorded.
  std::optional<Conflict> Add(const Access& access, const Accessor& accessor);

 private:
  static constexpr uint64_t kPageCells = 128;
  using Page = std::array<Cell, kPageCells>;

  AccessLog() = default;
  Cell& At(uint64_t index);
  std::optional<Conflict> AddRun(uint64_t begin, uint64_t bytes, const Access& access,
                                 const Accessor& accessor);

  std::vector<Cell> cells_;
  bool grows_ = false;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_index_ = UINT64_MAX;
  Page* last_page_ = nullptr;
};

// Calls visit(begin, bytes) for every run of the access, until it returns false.
template <typename Visit>
void VisitRuns(const Access& access, Visit visit) {
  for (uint32_t outer = 0; outer < access.outer_count; ++outer) {
    const uint64_t row = access.begin + static_cast<uint64_t>(outer * access.outer_stride);
    if (access.inner_stride == static_cast<int64_t>(access.run_bytes)) {
      if (!visit(row, access.run_bytes * access.inner_count)) return;
      continue;
    }
    for (uint32_t inner = 0; inner < access.inner_count; ++inner) {
      const uint64_t begin = row + static_cast<uint64_t>(inner * access.inner_stride);
      if (!visit(begin, access.run_bytes)) return;
    }
  }
}

}  // namespace sfmla::sim
