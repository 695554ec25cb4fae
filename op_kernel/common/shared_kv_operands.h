// SPDX-License-Identifier: Apache-2.0
// Operands that the operators of the family have in common, by the slots each says.
#pragma once

#include "op_kernel/common/attention_operands.h"

namespace sfmla {

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

// A cache whose tokens are keys and values, and what selects some of them.
struct KvSlots {
  int pool = kNoSlot;
  int block_table = kNoSlot;
  int indices = kNoSlot;
  int topk_length = kNoSlot;
};

inline void SetKv(const KernelOperands& operands, const char* const* names, const KvSlots& slots,
                  KvOperand* out) {
  out->pool = operands.Elements(slots.pool);
  out->block_table = operands.Integers(slots.block_table);
  out->block_table_name = names[slots.block_table];
  if (slots.indices != kNoSlot) out->indices = operands.Integers(slots.indices);
  if (slots.topk_length != kNoSlot) out->topk_length = operands.Integers(slots.topk_length);
}

// The queries and what becomes of them.
struct QuerySlots {
  int q = kNoSlot;
  int sinks = kNoSlot;
  int out = kNoSlot;
  int lse = kNoSlot;
};

inline void SetQueries(const KernelOperands& operands, const QuerySlots& slots,
                       AttentionCall* out) {
  out->q = operands.Elements(slots.q);
  out->sinks = operands.At<const float>(slots.sinks);
  out->out = operands.At<uint16_t>(slots.out);
  if (slots.lse != kNoSlot) out->statistics.lse = operands.At<float>(slots.lse);
}

}  // namespace sfmla
