// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

#include "op_kernel/arch/cpu/attention_operands.h"
#include "op_kernel/sparse_flash_mla/length_operands.h"
#include "op_kernel/sparse_flash_mla/operand_names.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"
#include "op_kernel/sparse_flash_mla_metadata/check_metadata.h"

namespace sfmla {
namespace {

using namespace smla_operand;

AttentionCall CallOf(const KernelCall& call) {
  const KernelOperands operands(call);
  AttentionCall out = AttentionCallOf(ReadTiling<SparseFlashMlaTiling>(call), call);
  SetLengths(operands, &out.lengths);
  const char* const* names = kSparseFlashMlaOperandNames;
  SetKv(operands, names, {kOriKv, kOriBlockTable, kOriSparseIndices, kOriTopkLength}, &out.ori);
  SetKv(operands, names, {kCmpKv, kCmpBlockTable, kCmpSparseIndices, kCmpTopkLength}, &out.cmp);
  SetQueries(operands, {kQ, kSinks, kAttnOut, kSoftmaxLse}, &out);
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
