// SPDX-License-Identifier: Apache-2.0
// Shapes of the outputs, as lists of named axes.
#pragma once

#include <initializer_list>

#include "op_host/common/operand.h"
#include "op_kernel/common/attention_call.h"

namespace sfmla {

// The axes of q, and so of attn_out.
inline std::initializer_list<Axis> QueryAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kS1, Axis::kN1, Axis::kD};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kT1, Axis::kN1, Axis::kD};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

// softmax_lse.
inline std::initializer_list<Axis> LseAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kN2, Axis::kS1, Axis::kG};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kN2, Axis::kT1, Axis::kG};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

}  // namespace sfmla
