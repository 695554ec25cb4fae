// SPDX-License-Identifier: Apache-2.0
// Contract of Gather on dav-2201.
#pragma once

#include "sim/contracts/common.h"
#include "sim/contracts/vector.h"

namespace sfmla::sim {

// The contract of vector instructions for dst and srcOffset (`vectors`, `accesses`); src in UB at a
// multiple of 32 B and apart from dst, all of it: which elements are read is not known yet.
void CheckGather(const Call& call, const Lanes& lanes, const std::vector<VectorArgument>& vectors,
                 const Argument& src, const Access& read, const std::vector<Access>& accesses);

// One offset, when it is used: a multiple of the element's bytes, inside src.
void CheckGathered(const Call& call, uint64_t offset, int64_t element_bytes, const Operand& src);

}  // namespace sfmla::sim
