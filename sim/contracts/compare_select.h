// SPDX-License-Identifier: Apache-2.0
// Contracts of Compare, Compares, CompareScalar and Select on dav-2201.
#pragma once

#include "sim/ascendc/types.h"
#include "sim/contracts/common.h"
#include "sim/contracts/vector.h"

namespace sfmla::sim {

// Whole rounds of 256 B in `bytes`; a rest is refused.
int64_t WholeRounds(const Call& call, int64_t bytes);

// Order comparisons do not exist for int32_t: the chip would compare for equality.
void CheckCompareMode(const Call& call, bool is_int32, AscendC::CMPMODE mode);

// VSEL_TENSOR_SCALAR_MODE with a scalar, the other two modes without.
void CheckSelectMode(const Call& call, AscendC::SELMODE mode, bool has_scalar);

// Bits that a selection reads: of one round if they start again with each, else of all.
int64_t SelectedBits(const Lanes& lanes, bool restarts);

// Bits in UB at a multiple of 32 B, inside the tensor, and not where an operand of the other
// direction lies.
void CheckBitOperand(const Call& call, const Argument& argument, const Access& bits,
                     const std::vector<Access>& others);

}  // namespace sfmla::sim
