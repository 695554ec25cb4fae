// SPDX-License-Identifier: Apache-2.0
// Contracts of all vector instructions on dav-2201, as the general constraints of the vector API
// state them: operands in UB, addresses multiples of 32 B, masks that fit the element width, no
// destination block stride of 0, operands inside their tensors, overlap only where it is defined.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/contracts/common.h"
#include "sim/intrinsics/lanes.h"
#include "sim/scalar_state.h"

namespace sfmla::sim {

struct VectorArgument {
  Argument argument;
  Access::Kind kind;
  int64_t element_bytes;
  LaneStrides strides;
};

enum class OverlapRule : uint8_t {
  // Destination and source of one round are the same bytes or share none; a round's destination is
  // no later round's source.
  kSameOrApart,
  // As above, but the last source may be the destination of earlier rounds if one of their repeat
  // strides is 0: the accumulation that half, int32_t and float have for sums and extremes.
  kAccumulates,
};

// Elements of a count form: 0 or more, without a bound but the tensor.
void CheckCount(const Call& call, int64_t count);
// Mask of the form "first elements of each repeat": 1 .. elements per repeat.
void CheckLeading(const Call& call, int64_t mask, int64_t per_repeat);
// Mask of the form with one bit per element: at least one, none behind the round's elements.
void CheckBits(const Call& call, const LaneMask& mask, int64_t per_repeat);
// Mask register at a call that sets none. A register that was set for elements of another width
// names lanes that this call does not have: what was left over is not what was meant.
void CheckRegister(const Call& call, const ScalarState& state, int64_t per_repeat);

// The bytes of the operand's active lanes, as few accesses as it takes.
void AppendFootprint(const VectorArgument& operand, const Lanes& lanes,
                     std::vector<Access>* accesses);

// In UB at multiples of 32 B and inside the tensors: all there is for operands that are only read.
void CheckPlaces(const Call& call, const std::vector<VectorArgument>& operands,
                 const std::vector<Access>& accesses);

// operands[0] is the destination; `accesses` are the footprints of all operands.
void CheckVector(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& operands,
                 const std::vector<Access>& accesses, OverlapRule rule);

}  // namespace sfmla::sim
