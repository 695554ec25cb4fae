// SPDX-License-Identifier: Apache-2.0
// The on-chip memory of the attention kernel: every buffer, its place and its size, in one table
// per memory.
#pragma once

#include "kernel_operator.h"
#include "op_kernel/arch/dav_2201/limits.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/device_tiling.h"

namespace sfmla::dav_2201 {

inline constexpr uint32_t kHeadElements = static_cast<uint32_t>(kHeadDim);
inline constexpr uint32_t kTileTokens = static_cast<uint32_t>(kDeviceTileTokens);
inline constexpr uint32_t kMostHeads = static_cast<uint32_t>(kMaxHeads);
inline constexpr uint32_t kVectorHeads = kMostHeads / 2;  // that one vector core takes care of
inline constexpr uint32_t kElementBytes = 2;              // half, bfloat16_t
inline constexpr uint32_t kFloatBytes = 4;

// `count` buffers of `bytes` bytes, one behind the other from byte `begin` on.
struct Region {
  uint32_t begin;
  uint32_t bytes;
  uint32_t count;

  constexpr uint32_t end() const { return begin + bytes * count; }
};

namespace ub {
// Running output of this core's heads: (heads, kHeadDim) float32.
inline constexpr Region kAccumulator{0, kVectorHeads * kHeadElements * kFloatBytes, 1};
// What comes from GM: scores, values, gathered keys.
inline constexpr Region kInput{kAccumulator.end(), 16 * kKibibyte, 2};
// What goes to GM: probabilities, outputs, zeros; and scratch before that.
inline constexpr Region kOutput{kInput.end(), 8 * kKibibyte, 2};
// One float32 per head of this core each: softmax after a tile, by parity of the tile; before the
// first tile of a chunk; of merged chunks; scratch.
inline constexpr uint32_t kPerHeadBytes = kVectorHeads * kFloatBytes;
inline constexpr Region kRunningMax{kOutput.end(), kPerHeadBytes, 2};
inline constexpr Region kRunningSum{kRunningMax.end(), kPerHeadBytes, 2};
inline constexpr Region kRescale{kRunningSum.end(), kPerHeadBytes, 2};
inline constexpr Region kNoMax{kRescale.end(), kPerHeadBytes, 1};
inline constexpr Region kNoSum{kNoMax.end(), kPerHeadBytes, 1};
inline constexpr Region kTotalMax{kNoSum.end(), kPerHeadBytes, 1};
inline constexpr Region kTotalSum{kTotalMax.end(), kPerHeadBytes, 1};
inline constexpr Region kHeadScratch{kTotalSum.end(), kPerHeadBytes, 6};
// One block of equal float32 per row, for row-wise arithmetic.
inline constexpr Region kRowBlocks{kHeadScratch.end(), 32 * kBlockBytes, 2};
// Of the heads in hand.
inline constexpr Region kSinks{kRowBlocks.end(), kPerHeadBytes, 1};
static_assert(kSinks.end() <= kUbBytes, "the table must fit into UB");
}  // namespace ub

namespace l1 {
inline constexpr uint32_t kUnitBytes = 64 * kKibibyte;
inline constexpr Region kQuery{0, kMostHeads * kHeadElements * kElementBytes, 1};
inline constexpr Region kProbabilities{kQuery.end(), kMostHeads * kTileTokens * kElementBytes, 1};
inline constexpr Region kKeys{kProbabilities.end(), kUnitBytes, 3};
static_assert(kKeys.end() <= kL1Bytes, "the table must fit into L1");
}  // namespace l1

namespace l0 {
inline constexpr Region kLeft{0, kL0aBytes / 2, 2};
inline constexpr Region kRight{0, kL0bBytes / 2, 2};
inline constexpr Region kSum{0, kL0cBytes / 2, 2};
}  // namespace l0

// Extents of one product on the cube: kStep elements of either side at a time.
inline constexpr uint32_t kStep = 128;
static_assert(kMostHeads * kStep * kElementBytes <= l0::kLeft.bytes, "A fits");
static_assert(kStep * kStep * kElementBytes <= l0::kRight.bytes, "B fits");
static_assert(kMostHeads * kStep * kFloatBytes <= l0::kSum.bytes, "C fits");
// A unit of keys in L1: for scores few tokens and many elements of each, for outputs the opposite.
inline constexpr uint32_t kScoreTokens = kStep;
inline constexpr uint32_t kScoreElements = 2 * kStep;
inline constexpr uint32_t kValueTokens = 2 * kStep;
inline constexpr uint32_t kValueElements = kStep;
static_assert(kScoreTokens * kScoreElements * kElementBytes <= l1::kUnitBytes, "score unit fits");
static_assert(kValueTokens * kValueElements * kElementBytes <= l1::kUnitBytes, "value unit fits");

// Buffer `index` of a region as elements of type T. The region is a template argument because a
// kernel has no memory for global objects.
template <typename T, const Region& region>
__aicore__ inline AscendC::LocalTensor<T> BufferAt(AscendC::TPosition position, uint32_t index) {
  constexpr uint32_t kElements = region.bytes / static_cast<uint32_t>(sizeof(T));
  return AscendC::LocalTensor<T>(position, region.begin + index * region.bytes, kElements);
}
template <typename T, const Region& region>
__aicore__ inline AscendC::LocalTensor<T> Ub(uint32_t index = 0) {
  return BufferAt<T, region>(AscendC::TPosition::VECCALC, index);
}
template <typename T, const Region& region>
__aicore__ inline AscendC::LocalTensor<T> L1(uint32_t index = 0) {
  return BufferAt<T, region>(AscendC::TPosition::A1, index);
}

}  // namespace sfmla::dav_2201
