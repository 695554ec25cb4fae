// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.h"

#include <algorithm>
#include <cstring>

#include "sim/bit_range.h"

namespace sfmla::sim {

Memory::Memory(Space space, uint64_t bytes, bool tracks_writes)
    : space_(space), bytes_(bytes), data_(new std::byte[bytes]) {
  for (uint64_t i = 0; i + sizeof(kPoison) <= bytes; i += sizeof(kPoison)) {
    std::memcpy(data_.get() + i, &kPoison, sizeof(kPoison));
  }
  if (tracks_writes) written_.assign((bytes + 63) / 64, 0);
}

bool Memory::Written(uint64_t begin, uint64_t bytes) const {
  return written_.empty() || AllBitsSet(written_.data(), begin, bytes);
}

void Memory::MarkWritten(uint64_t begin, uint64_t bytes) {
  if (!written_.empty()) AssignBits(written_.data(), begin, bytes, true);
}

void Memory::MarkUnwritten(uint64_t begin, uint64_t bytes) {
  if (!written_.empty()) AssignBits(written_.data(), begin, bytes, false);
}

}  // namespace sfmla::sim
