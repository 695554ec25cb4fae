// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_attention/cpu_kernel.h"

#include "op_kernel/arch/cpu/attention_operands.h"
#include "op_kernel/sparse_flash_attention/operand_names.h"
#include "op_kernel/sparse_flash_attention/tiling_data.h"

namespace sfmla {
namespace {

using namespace sparse_flash_operand;

// One tensor says how long the requests are: with packed rows where they end, else how many rows
// or tokens they use.
void SetLengths(const KernelOperands& operands, const AttentionRules& rules, LengthTensors* out) {
  const char* query_name = "actual_seq_lengths_query";
  const char* kv_name = "actual_seq_lengths_kv";
  out->names = {query_name, kv_name, query_name, kv_name, "PA_BSND"};
  out->sums_begin_with_zero = false;
  const bool packed_query = rules.layout_q == Layout::kTnd;
  const bool packed_kv = rules.layout_kv == Layout::kTnd;
  (packed_query ? out->cu_seqlens_q : out->seqused_q) = operands.Integers(kActualSeqLengthsQuery);
  (packed_kv ? out->cu_seqlens_ori_kv : out->seqused_ori_kv) =
      operands.Integers(kActualSeqLengthsKv);
}

bool SameRows(const CacheGeometry& a, const CacheGeometry& b) {
  return a.outer_stride == b.outer_stride && a.token_stride == b.token_stride;
}

AttentionCall CallOf(const KernelCall& call) {
  const KernelOperands operands(call);
  AttentionCall out = AttentionCallOf(ReadTiling<SparseFlashAttentionTiling>(call), call);
  SetLengths(operands, out.rules, &out.lengths);
  out.q_rope = operands.Elements(kQueryRope);
  SetKv(operands, kSparseFlashAttentionOperandNames, {kKey, kBlockTable, kSparseIndices}, &out.ori);
  out.ori_rope.pool = operands.Elements(kKeyRope);
  const uint16_t* value = operands.Elements(kValue);
  // Callers pass the keys again; values that are the keys need not be read twice.
  const bool is_key = value == out.ori.pool && SameRows(out.ori_value.geometry, out.ori.geometry);
  if (!is_key) out.ori_value.pool = value;
  SetQueries(operands, {kQuery, kSinks, kAttentionOut}, &out);
  out.statistics.max = operands.At<float>(kSoftmaxMax);
  out.statistics.sum = operands.At<float>(kSoftmaxSum);
  return out;
}

}  // namespace

Status SparseFlashAttentionCpuKernel(const KernelCall& call) {
  return PlanAndRunAttention(CallOf(call));
}

}  // namespace sfmla
