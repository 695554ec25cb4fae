// SPDX-License-Identifier: Apache-2.0
// KernelCall -> AttentionCall: what an attention operator says in the same way as the others. The
// rest, which tensor lies in which slot, is its own.
#pragma once

#include "op_kernel/common/attention_kernel.h"
#include "op_kernel/common/attention_tiling.h"
#include "op_kernel/common/kernel_operands.h"

namespace sfmla {

// What the extents of a call say about its lengths; the tensors are still to be filled in.
inline LengthTensors LengthTensorsOf(const AttentionTiling& tiling) {
  LengthTensors out(tiling.rules, tiling.batch);
  out.query_extent = tiling.query_extent;
  out.ori_extent = tiling.ori.tokens;
  out.cmp_extent = tiling.cmp.tokens;
  return out;
}

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

}  // namespace sfmla
