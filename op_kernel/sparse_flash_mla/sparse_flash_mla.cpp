// SPDX-License-Identifier: Apache-2.0
// Kernel entry of SparseFlashMla. Operands in the order of the C arguments; a tiling key per
// element type: 0 float16, 1 bfloat16.
#include "op_kernel/arch/dav_2201/attention_kernel.h"

extern "C" __global__ __aicore__ void sparse_flash_mla(
    GM_ADDR q, GM_ADDR ori_kv, GM_ADDR cmp_kv, GM_ADDR ori_sparse_indices,
    GM_ADDR cmp_sparse_indices, GM_ADDR ori_block_table, GM_ADDR cmp_block_table,
    GM_ADDR cu_seqlens_q, GM_ADDR cu_seqlens_ori_kv, GM_ADDR cu_seqlens_cmp_kv, GM_ADDR seqused_q,
    GM_ADDR seqused_ori_kv, GM_ADDR seqused_cmp_kv, GM_ADDR cmp_residual_kv,
    GM_ADDR ori_topk_length, GM_ADDR cmp_topk_length, GM_ADDR sinks, GM_ADDR metadata,
    GM_ADDR attn_out, GM_ADDR softmax_lse, GM_ADDR workspace, GM_ADDR tiling_data) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  REGISTER_TILING_DEFAULT(sfmla::AttentionDeviceTiling);
  GET_TILING_DATA_WITH_STRUCT(sfmla::AttentionDeviceTiling, tiling, tiling_data);
  const sfmla::dav_2201::KernelOperandAddresses operands{q,
                                                         ori_kv,
                                                         cmp_kv,
                                                         ori_sparse_indices,
                                                         cmp_sparse_indices,
                                                         ori_block_table,
                                                         cmp_block_table,
                                                         cu_seqlens_q,
                                                         cu_seqlens_ori_kv,
                                                         cu_seqlens_cmp_kv,
                                                         seqused_q,
                                                         seqused_ori_kv,
                                                         seqused_cmp_kv,
                                                         cmp_residual_kv,
                                                         ori_topk_length,
                                                         cmp_topk_length,
                                                         sinks,
                                                         metadata,
                                                         attn_out,
                                                         softmax_lse,
                                                         AscendC::GetUserWorkspace(workspace)};
  if (TILING_KEY_IS(0)) {
    sfmla::dav_2201::RunAttention<half>(tiling, operands);
  } else if (TILING_KEY_IS(1)) {
    sfmla::dav_2201::RunAttention<bfloat16_t>(tiling, operands);
  }
}
