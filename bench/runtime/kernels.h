// SPDX-License-Identifier: Apache-2.0
// What runs in place of the operators' kernels while the runtime around them is measured.
#pragma once

namespace sfmla::bench {

// Attention does nothing from now on.
void UseEmptyKernels();

// The kernels as they are from now on, and their time is counted.
void UseTimedKernels();
// Wall seconds that kernels took since the last call. No kernel may be running.
double TakeKernelSeconds();

}  // namespace sfmla::bench
