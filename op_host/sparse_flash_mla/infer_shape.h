// SPDX-License-Identifier: Apache-2.0
// Shapes of the outputs, as lists of named axes. attn_out has those of q.
#pragma once

#include <initializer_list>

#include "op_host/common/operand.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

// softmax_lse.
inline std::initializer_list<Axis> LseAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kN2, Axis::kS1, Axis::kG};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kN2, Axis::kT1, Axis::kG};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

}  // namespace sfmla
