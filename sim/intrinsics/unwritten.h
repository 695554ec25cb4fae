// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody wrote stay so when an instruction only moves them: gap rows of an Nz matrix
// that travel from L1 to L0 are no mistake until somebody computes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/memory.h"

namespace sfmla::sim {

struct MemoryPart {
  Memory* memory;
  uint64_t begin;
  uint64_t bytes;

  bool Written() const { return memory->Written(begin, bytes); }
};

// move(std::byte* dst, const std::byte* src) is the instruction itself, for bytes that stand for
// `written` or not instead of the data; bytes of dst it leaves alone count as written.
template <typename Move>
void MoveUnwritten(const MemoryPart& dst, const MemoryPart& src, Move move) {
  if (src.Written()) return;
  std::vector<std::byte> from(src.bytes);
  for (uint64_t i = 0; i < src.bytes; ++i) {
    from[i] = std::byte{src.memory->Written(src.begin + i, 1)};
  }
  std::vector<std::byte> to(dst.bytes, std::byte{1});
  move(to.data(), from.data());
  for (uint64_t i = 0; i < dst.bytes; ++i) {
    if (to[i] == std::byte{0}) dst.memory->MarkUnwritten(dst.begin + i, 1);
  }
}

}  // namespace sfmla::sim
