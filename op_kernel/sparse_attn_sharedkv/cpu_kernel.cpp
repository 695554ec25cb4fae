// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_attn_sharedkv/cpu_kernel.h"

#include "op_kernel/common/attention_operands.h"
#include "op_kernel/common/call_digest.h"
#include "op_kernel/sparse_attn_sharedkv/tiling_data.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/metadata_layout.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/shared_lengths.h"

namespace sfmla {
namespace {

using namespace sharedkv_operand;

AttentionCall CallOf(const KernelCall& call) {
  const KernelOperands operands(call);
  AttentionCall out = AttentionCallOf(ReadTiling<SparseAttnSharedkvTiling>(call), call);
  ApplySharedKvRules(&out.lengths);
  out.lengths.cu_seqlens_q = operands.Integers(kCuSeqlensQ);
  out.lengths.cu_seqlens_ori_kv = operands.Integers(kCuSeqlensOriKv);
  out.lengths.cu_seqlens_cmp_kv = operands.Integers(kCuSeqlensCmpKv);
  out.lengths.seqused_q = operands.Integers(kSequsedQ);
  out.lengths.seqused_ori_kv = operands.Integers(kSequsedKv);
  out.q = operands.Elements(kQ);
  out.ori.pool = operands.Elements(kOriKv);
  out.ori.block_table = operands.Integers(kOriBlockTable);
  out.ori.block_table_name = "ori_block_table";
  out.cmp.pool = operands.Elements(kCmpKv);
  out.cmp.block_table = operands.Integers(kCmpBlockTable);
  out.cmp.block_table_name = "cmp_block_table";
  out.cmp.indices = operands.Integers(kCmpSparseIndices);
  out.sinks = operands.At<const float>(kSinks);
  out.out = operands.At<uint16_t>(kAttnOut);
  out.statistics.lse = operands.At<float>(kSoftmaxLse);
  return out;
}

// Metadata is a hint, and other planners may have written it. Only a plan of our own is known to be
// of another call.
Status CheckHint(const SharedKvMetadata& metadata, const AttentionCall& call) {
  if (metadata.magic != kSharedKvMagic || metadata.version != kSharedKvFormatVersion) {
    return Status::Ok();
  }
  return CompareDigests(metadata.digest, DigestOf(call.rules, call.lengths), call.lengths.names);
}

}  // namespace

Status SparseAttnSharedkvCpuKernel(const KernelCall& call) {
  const AttentionCall attention = CallOf(call);
  SFMLA_RETURN_IF_ERROR(
      CheckHint(*KernelOperands(call).At<const SharedKvMetadata>(kMetadata), attention));
  return PlanAndRunAttention(attention);
}

}  // namespace sfmla
