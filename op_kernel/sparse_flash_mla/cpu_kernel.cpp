// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

#include <cassert>
#include <cstring>

#include "op_kernel/common/attention_kernel.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"
#include "op_kernel/sparse_flash_mla_metadata/call_digest.h"

namespace sfmla {
namespace {

using namespace smla_operand;

template <typename T>
T* Operand(const KernelCall& call, Slot slot) {
  return static_cast<T*>(call.operands[slot]);
}

const int32_t* Values(const KernelCall& call, Slot slot) {
  return Operand<const int32_t>(call, slot);
}

LengthTensors LengthsOf(const SparseFlashMlaTiling& tiling, const KernelCall& call) {
  LengthTensors out(tiling.rules, tiling.batch);
  out.query_extent = tiling.query_extent;
  out.ori_extent = tiling.ori.tokens;
  out.cmp_extent = tiling.cmp.tokens;
  out.cu_seqlens_q = Values(call, kCuSeqlensQ);
  out.cu_seqlens_ori_kv = Values(call, kCuSeqlensOriKv);
  out.cu_seqlens_cmp_kv = Values(call, kCuSeqlensCmpKv);
  out.seqused_q = Values(call, kSequsedQ);
  out.seqused_ori_kv = Values(call, kSequsedOriKv);
  out.seqused_cmp_kv = Values(call, kSequsedCmpKv);
  out.cmp_residual_kv = Values(call, kCmpResidualKv);
  return out;
}

AttentionCall AttentionCallOf(const SparseFlashMlaTiling& tiling, const KernelCall& call) {
  AttentionCall out;
  out.rules = tiling.rules;
  out.type = tiling.is_bfloat16 ? ElementType::kBfloat16 : ElementType::kFloat16;
  out.softmax_scale = tiling.softmax_scale;
  out.block_tokens = tiling.block_tokens;
  out.query_rows = tiling.query_rows;
  out.lengths = LengthsOf(tiling, call);
  out.q = Operand<const uint16_t>(call, kQ);
  out.ori = {
      tiling.ori,        Operand<const uint16_t>(call, kOriKv), Values(call, kOriBlockTable),
      "ori_block_table", Values(call, kOriSparseIndices),       Values(call, kOriTopkLength)};
  out.cmp = {
      tiling.cmp,        Operand<const uint16_t>(call, kCmpKv), Values(call, kCmpBlockTable),
      "cmp_block_table", Values(call, kCmpSparseIndices),       Values(call, kCmpTopkLength)};
  out.sinks = Operand<const float>(call, kSinks);
  out.out = Operand<uint16_t>(call, kAttnOut);
  out.statistics.lse = Operand<float>(call, kSoftmaxLse);
  out.layout = tiling.workspace;
  out.workspace = call.workspace;
  return out;
}

}  // namespace

Status SparseFlashMlaCpuKernel(const KernelCall& call) {
  assert(call.tiling.size() == sizeof(SparseFlashMlaTiling));
  SparseFlashMlaTiling tiling;
  std::memcpy(&tiling, call.tiling.data(), sizeof(tiling));
  // A copy: device memory may change after the check.
  const Metadata metadata = *Operand<const Metadata>(call, kMetadata);
  const AttentionCall attention = AttentionCallOf(tiling, call);
  SFMLA_RETURN_IF_ERROR(CheckMetadata(metadata, DigestOf(attention.rules, attention.lengths)));
  return RunAttention(attention, metadata.schedule);
}

}  // namespace sfmla
