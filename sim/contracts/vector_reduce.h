// SPDX-License-Identifier: Apache-2.0
// Contracts of WholeReduce*, BlockReduce* and PairReduceSum on dav-2201.
#pragma once

#include "sim/contracts/common.h"
#include "sim/intrinsics/vector_reduce.h"

namespace sfmla::sim {

// repeatTime 0..255, strides 0..65535.
void CheckReduce(const Call& call, const ReducePlan& plan, int64_t repeats);

// Both in UB; src at a multiple of 32 B; dst at a multiple of what one round writes, at most 32 B;
// inside the tensors and apart from each other. `accesses`: dst's, then src's.
void CheckReduceOperands(const Call& call, const Argument& dst, const Argument& src,
                         const ReducePlan& plan, const std::vector<Access>& accesses);

}  // namespace sfmla::sim
