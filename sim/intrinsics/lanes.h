// SPDX-License-Identifier: Apache-2.0
// Which elements a vector instruction works on, and where they are. A vector instruction runs
// `repeats` rounds; a round covers up to 256 bytes of its widest operand, in blocks of 32 bytes.
// Element e of round r of an operand of type T lies at
//   base + r * repeat_stride * 32 B + (e / (32 / sizeof(T))) * block_stride * 32 B
//        + (e % (32 / sizeof(T))) * sizeof(T)
// and takes part when its mask bit is set. The forms with an element count are the same rounds with
// strides 1 and 8 and a shorter last round.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sfmla::sim {

inline constexpr int64_t kBlockBytes = 32;
inline constexpr int64_t kRepeatBytes = 256;
inline constexpr int64_t kBlocksPerRepeat = 8;

// Bit i of low is element i, bit i of high is element 64 + i.
struct LaneMask {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const LaneMask&) const = default;
  bool Has(int64_t lane) const {
    return ((lane < 64 ? low >> lane : high >> (lane - 64)) & 1) != 0;
  }
  bool empty() const { return low == 0 && high == 0; }
  // First `count` elements.
  static LaneMask Leading(int64_t count) {
    const auto bits = [](int64_t n) {
      return n <= 0 ? 0 : n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
    };
    return {bits(count), bits(count - 64)};
  }
};

struct Lanes {
  int64_t repeats = 0;
  int64_t per_repeat = 0;  // elements a full round has
  LaneMask mask;           // of every round but the last
  LaneMask last_mask;      // of the last round

  const LaneMask& MaskOf(int64_t repeat) const { return repeat + 1 == repeats ? last_mask : mask; }

  static Lanes Repeated(int64_t repeats, int64_t per_repeat, LaneMask mask) {
    return {repeats, per_repeat, mask, mask};
  }
  static Lanes Counted(int64_t count, int64_t per_repeat) {
    const int64_t repeats = (count + per_repeat - 1) / per_repeat;
    return {repeats, per_repeat, LaneMask::Leading(per_repeat),
            LaneMask::Leading(count - (repeats - 1) * per_repeat)};
  }
};

// Strides in blocks of 32 bytes.
struct LaneStrides {
  int64_t block = 1;
  int64_t repeat = kBlocksPerRepeat;
};

constexpr int64_t LaneOffsetBytes(const LaneStrides& strides, int64_t element_bytes, int64_t repeat,
                                  int64_t lane) {
  const int64_t per_block = kBlockBytes / element_bytes;
  return (repeat * strides.repeat + lane / per_block * strides.block) * kBlockBytes +
         lane % per_block * element_bytes;
}

template <typename T>
struct LaneOperand {
  T* base;
  LaneStrides strides;

  T* At(int64_t repeat, int64_t lane) const {
    return base + LaneOffsetBytes(strides, sizeof(T), repeat, lane) / int64_t{sizeof(T)};
  }
};

// Calls run(repeat, first lane, lanes) for runs of active lanes that cross no multiple of `window`
// lanes: inside a run of a window of 32 bytes every operand is contiguous.
template <typename Run>
void ForEachRun(const Lanes& lanes, int64_t window, Run run) {
  for (int64_t repeat = 0; repeat < lanes.repeats; ++repeat) {
    const LaneMask& mask = lanes.MaskOf(repeat);
    int64_t lane = 0;
    while (lane < lanes.per_repeat) {
      if (!mask.Has(lane)) {
        ++lane;
        continue;
      }
      const int64_t first = lane;
      const int64_t end = std::min(lanes.per_repeat, (first / window + 1) * window);
      while (lane < end && mask.Has(lane)) ++lane;
      run(repeat, first, lane - first);
    }
  }
}

// The widest window in which an operand with these strides is contiguous.
constexpr int64_t ContiguousLanes(const LaneStrides& strides, int64_t element_bytes,
                                  int64_t per_repeat) {
  return strides.block == 1 ? per_repeat : kBlockBytes / element_bytes;
}

// dst = op(src...) for all active lanes, rounds in order.
template <typename Op, typename To, typename... From>
void ForEachLane(const Lanes& lanes, Op op, LaneOperand<To> dst, LaneOperand<From>... src) {
  const int64_t window =
      std::min({ContiguousLanes(dst.strides, sizeof(To), lanes.per_repeat),
                ContiguousLanes(src.strides, sizeof(From), lanes.per_repeat)...});
  ForEachRun(lanes, window, [&](int64_t repeat, int64_t first, int64_t length) {
    const auto apply = [&](To* to, auto*... from) {
      for (int64_t i = 0; i < length; ++i) to[i] = op(from[i]...);
    };
    apply(dst.At(repeat, first), src.At(repeat, first)...);
  });
}

}  // namespace sfmla::sim
