// SPDX-License-Identifier: Apache-2.0
// Ranges of bits in arrays of 64-bit words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sfmla::sim {

// Calls visit(word index, mask) for the words that hold bits [begin, begin + count), until it
// returns false.
template <typename Visit>
void VisitBits(uint64_t begin, uint64_t count, Visit visit) {
  const uint64_t end = begin + count;
  while (begin < end) {
    const uint64_t bit = begin % 64;
    const uint64_t length = std::min<uint64_t>(64 - bit, end - begin);
    const uint64_t ones = length == 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    if (!visit(begin / 64, ones << bit)) return;
    begin += length;
  }
}

// Calls visit(first, count) for every run of ones.
template <typename Visit>
void VisitOnes(uint64_t word, Visit visit) {
  uint64_t first = 0;
  while (word >> first != 0) {
    first += static_cast<uint64_t>(std::countr_zero(word >> first));
    const auto count = static_cast<uint64_t>(std::countr_one(word >> first));
    visit(first, count);
    first += count;
    if (first == 64) return;
  }
}

inline bool AllBitsSet(const uint64_t* words, uint64_t begin, uint64_t count) {
  bool all = true;
  VisitBits(begin, count,
            [&](uint64_t word, uint64_t mask) { return all = (words[word] & mask) == mask; });
  return all;
}

inline void AssignBits(uint64_t* words, uint64_t begin, uint64_t count, bool value) {
  VisitBits(begin, count, [&](uint64_t word, uint64_t mask) {
    words[word] = value ? words[word] | mask : words[word] & ~mask;
    return true;
  });
}

}  // namespace sfmla::sim
