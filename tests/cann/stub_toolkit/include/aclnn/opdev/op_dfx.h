// SPDX-License-Identifier: Apache-2.0
// Stub: macros that log calls. They only evaluate their arguments.
#pragma once

namespace op {
template <typename... Args>
void Note(const char* name, const Args&... args) {
  (void)name;
  ((void)args, ...);
}
}  // namespace op

#define DFX_IN(...) __VA_ARGS__
#define DFX_OUT(...) __VA_ARGS__
#define L0_DFX(function, ...) op::Note(#function, __VA_ARGS__)
#define L2_DFX_PHASE_1(function, inputs, ...) op::Note(#function, inputs, __VA_ARGS__)
#define L2_DFX_PHASE_2(function) op::Note(#function)
