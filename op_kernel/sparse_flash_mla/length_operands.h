// SPDX-License-Identifier: Apache-2.0
// The length tensors of SparseFlashMla, from its operands.
#pragma once

#include "op_kernel/common/length_operands.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

inline void SetLengths(const KernelOperands& operands, LengthTensors* out) {
  using namespace smla_operand;
  SetLengths(operands,
             {kCuSeqlensQ, kCuSeqlensOriKv, kCuSeqlensCmpKv, kSequsedQ, kSequsedOriKv,
              kSequsedCmpKv, kCmpResidualKv},
             out);
}

}  // namespace sfmla
