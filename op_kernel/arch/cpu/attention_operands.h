// SPDX-License-Identifier: Apache-2.0
// KernelCall -> AttentionCall: what an attention operator says in the same way as the others. Which
// tensor lies in which slot is its own.
#pragma once

#include "op_kernel/arch/cpu/attention_kernel.h"
#include "op_kernel/common/attention_tiling.h"
#include "op_kernel/common/kernel_operands.h"
#include "op_kernel/common/length_operands.h"

namespace sfmla {

// Everything but tensors and names.
inline AttentionCall AttentionCallOf(const AttentionTiling& tiling, const KernelCall& call) {
  AttentionCall out;
  out.rules = tiling.rules;
  out.type = tiling.is_bfloat16 ? ElementType::kBfloat16 : ElementType::kFloat16;
  out.softmax_scale = tiling.softmax_scale;
  out.block_tokens = tiling.block_tokens;
  out.query_rows = tiling.query_rows;
  out.lengths = LengthTensorsOf(tiling);
  out.ori.geometry = tiling.ori;
  out.cmp.geometry = tiling.cmp;
  out.ori_rope.geometry = tiling.ori_rope;
  out.ori_value.geometry = tiling.ori_value;
  out.layout = tiling.workspace;
  out.workspace = call.workspace;
  return out;
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
