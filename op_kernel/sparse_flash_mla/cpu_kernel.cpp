// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

#include "op_kernel/common/attention_operands.h"
#include "op_kernel/sparse_flash_mla/length_operands.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"
#include "op_kernel/sparse_flash_mla_metadata/check_metadata.h"

namespace sfmla {
namespace {

using namespace smla_operand;

AttentionCall CallOf(const KernelCall& call) {
  const KernelOperands operands(call);
  AttentionCall out = AttentionCallOf(ReadTiling<SparseFlashMlaTiling>(call), call);
  SetLengths(operands, &out.lengths);
  out.q = operands.Elements(kQ);
  out.ori.pool = operands.Elements(kOriKv);
  out.ori.block_table = operands.Integers(kOriBlockTable);
  out.ori.block_table_name = "ori_block_table";
  out.ori.indices = operands.Integers(kOriSparseIndices);
  out.ori.topk_length = operands.Integers(kOriTopkLength);
  out.cmp.pool = operands.Elements(kCmpKv);
  out.cmp.block_table = operands.Integers(kCmpBlockTable);
  out.cmp.block_table_name = "cmp_block_table";
  out.cmp.indices = operands.Integers(kCmpSparseIndices);
  out.cmp.topk_length = operands.Integers(kCmpTopkLength);
  out.sinks = operands.At<const float>(kSinks);
  out.out = operands.At<uint16_t>(kAttnOut);
  out.statistics.lse = operands.At<float>(kSoftmaxLse);
  return out;
}

}  // namespace

Status SparseFlashMlaCpuKernel(const KernelCall& call) {
  // A copy: device memory may change after the check.
  const Metadata metadata = *KernelOperands(call).At<const Metadata>(kMetadata);
  const AttentionCall attention = CallOf(call);
  SFMLA_RETURN_IF_ERROR(CheckMetadata(metadata, DigestOf(attention.rules, attention.lengths)));
  return RunAttention(attention, metadata.schedule);
}

}  // namespace sfmla
