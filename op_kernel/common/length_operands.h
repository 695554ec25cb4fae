// SPDX-License-Identifier: Apache-2.0
// The lengths of a call: what its extents say, and the tensors in the slots that an operator names.
#pragma once

#include "op_kernel/common/attention_tiling.h"
#include "op_kernel/common/kernel_operands.h"
#include "op_kernel/common/length_tensors.h"

namespace sfmla {

// What the extents of a call say about its lengths; the tensors are still to be filled in.
inline LengthTensors LengthTensorsOf(const AttentionTiling& tiling) {
  LengthTensors out(tiling.rules, tiling.batch);
  out.query_extent = tiling.query_extent;
  out.ori_extent = tiling.ori.tokens;
  out.cmp_extent = tiling.cmp.tokens;
  return out;
}

inline constexpr int kNoSlot = -1;

struct LengthSlots {
  int cu_seqlens_q = kNoSlot;
  int cu_seqlens_ori_kv = kNoSlot;
  int cu_seqlens_cmp_kv = kNoSlot;
  int seqused_q = kNoSlot;
  int seqused_ori_kv = kNoSlot;
  int seqused_cmp_kv = kNoSlot;
  int cmp_residual_kv = kNoSlot;
};

inline void SetLengths(const KernelOperands& operands, const LengthSlots& slots,
                       LengthTensors* out) {
  const auto integers = [&](int slot) {
    return slot == kNoSlot ? nullptr : operands.Integers(slot);
  };
  out->cu_seqlens_q = integers(slots.cu_seqlens_q);
  out->cu_seqlens_ori_kv = integers(slots.cu_seqlens_ori_kv);
  out->cu_seqlens_cmp_kv = integers(slots.cu_seqlens_cmp_kv);
  out->seqused_q = integers(slots.seqused_q);
  out->seqused_ori_kv = integers(slots.seqused_ori_kv);
  out->seqused_cmp_kv = integers(slots.seqused_cmp_kv);
  out->cmp_residual_kv = integers(slots.cmp_residual_kv);
}

}  // namespace sfmla
