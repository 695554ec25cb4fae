// SPDX-License-Identifier: Apache-2.0
// The length tensors of SparseFlashMla, from its operands.
#pragma once

#include "op_kernel/common/kernel_operands.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

inline void SetLengths(const KernelOperands& operands, LengthTensors* out) {
  using namespace smla_operand;
  out->cu_seqlens_q = operands.Integers(kCuSeqlensQ);
  out->cu_seqlens_ori_kv = operands.Integers(kCuSeqlensOriKv);
  out->cu_seqlens_cmp_kv = operands.Integers(kCuSeqlensCmpKv);
  out->seqused_q = operands.Integers(kSequsedQ);
  out->seqused_ori_kv = operands.Integers(kSequsedOriKv);
  out->seqused_cmp_kv = operands.Integers(kSequsedCmpKv);
  out->cmp_residual_kv = operands.Integers(kCmpResidualKv);
}

}  // namespace sfmla
