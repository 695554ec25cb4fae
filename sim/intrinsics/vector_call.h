// SPDX-License-Identifier: Apache-2.0
// What all vector instructions do around their arithmetic: which lanes are active, which bytes that
// touches, the contract, the queue.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/ascendc/checked.h"
#include "sim/ascendc/tensors.h"
#include "sim/contracts/vector.h"
#include "sim/core.h"
#include "sim/intrinsics/lanes.h"
#include "sim/intrinsics/numbers.h"

namespace AscendC {
// Stands for the mask argument where isSetMask is false.
inline constexpr uint64_t MASK_PLACEHOLDER = 0;
}  // namespace AscendC

namespace sfmla::sim {

// How the active lanes of a call are named: the first `count` elements; the first `leading`
// elements of each repeat; a bit per element; or whatever the mask register says.
struct LaneChoice {
  enum class Form : uint8_t { kCount, kLeading, kBits, kRegister };
  Form form;
  int64_t count = 0;    // kCount: elements; kLeading: elements per repeat
  LaneMask bits;        // kBits
  int64_t repeats = 0;  // all but kCount
};
inline LaneChoice CountLanes(int64_t count) { return {LaneChoice::Form::kCount, count, {}, 0}; }
template <bool set_mask>
LaneChoice LeadingLanes(int64_t mask, int64_t repeats) {
  return {set_mask ? LaneChoice::Form::kLeading : LaneChoice::Form::kRegister, mask, {}, repeats};
}
template <bool set_mask>
LaneChoice BitLanes(const uint64_t* mask, int64_t repeats) {
  if constexpr (!set_mask) return {LaneChoice::Form::kRegister, 0, {}, repeats};
  return {LaneChoice::Form::kBits, 0, {mask[0], mask[1]}, repeats};
}

// The lanes of a call whose widest operand has `element_bytes`. Leaves the mask register as the
// call does: a repeat form with a mask of its own keeps that one, a count form restores a full one.
Lanes ResolveLanes(const Call& call, const LaneChoice& choice, int64_t element_bytes);

template <typename T>
VectorArgument Reads(const char* name, const AscendC::LocalTensor<T>& tensor, LaneStrides strides) {
  return {{name, OperandOf(tensor)}, Access::Kind::kRead, sizeof(T), strides};
}
template <typename T>
VectorArgument Writes(const char* name, const AscendC::LocalTensor<T>& tensor,
                      LaneStrides strides) {
  return {{name, OperandOf(tensor)}, Access::Kind::kWrite, sizeof(T), strides};
}
template <typename T>
LaneOperand<T> ElementsOf(const VectorArgument& argument) {
  return {reinterpret_cast<T*>(argument.argument.operand.host), argument.strides};
}

// Checks and queues an instruction of PIPE_V with operands[0] the destination.
void IssueVector(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& operands,
                 OverlapRule rule, std::function<void()> execute);

// dst = op(src...), element by element, all of type T.
template <typename T, typename Op, typename... From>
void IssueElementwise(const Call& call, const LaneChoice& choice, OverlapRule rule, Op op,
                      const VectorArgument& dst, const From&... src) {
  const Lanes lanes = ResolveLanes(call, choice, sizeof(T));
  IssueVector(call, lanes, {dst, src...}, rule, [=] {
    ForEachLane(lanes, Elementwise<T>(op), ElementsOf<T>(dst), ElementsOf<T>(src)...);
  });
}

}  // namespace sfmla::sim
