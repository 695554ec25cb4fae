// SPDX-License-Identifier: Apache-2.0
// Shapes of the outputs, as lists of named axes. attn_out has those of q.
#pragma once

#include <initializer_list>

#include "op_host/common/operand.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

// softmax_lse: q with a last axis of 1.
inline std::initializer_list<Axis> SharedKvLseAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kS1, Axis::kN1, Axis::kN2};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kT1, Axis::kN1, Axis::kN2};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

}  // namespace sfmla
