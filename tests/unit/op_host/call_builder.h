// SPDX-License-Identifier: Apache-2.0
// A valid CSA call of SparseFlashMla: TND queries, paged caches.
#pragma once

#include "op_host/sparse_flash_mla/args.h"
#include "unit/op_host/editable_call.h"

namespace sfmla::test {

struct Call : EditableCall<SparseFlashMlaArgs> {
  Call() {
    operands = {
        TensorOf("q", ACL_BF16, {6, 64, 512}),
        TensorOf("ori_kv", ACL_BF16, {9, 128, 1, 512}),
        TensorOf("cmp_kv", ACL_BF16, {5, 32, 1, 512}),
        Absent("ori_sparse_indices"),
        TensorOf("cmp_sparse_indices", ACL_INT32, {6, 1, 16}),
        TensorOf("ori_block_table", ACL_INT32, {2, 4}),
        TensorOf("cmp_block_table", ACL_INT32, {2, 3}),
        TensorOf("cu_seqlens_q", ACL_INT32, {3}),
        Absent("cu_seqlens_ori_kv"),
        Absent("cu_seqlens_cmp_kv"),
        Absent("seqused_q"),
        TensorOf("seqused_ori_kv", ACL_INT32, {2}),
        TensorOf("seqused_cmp_kv", ACL_INT32, {2}),
        TensorOf("cmp_residual_kv", ACL_INT32, {2}),
        Absent("ori_topk_length"),
        Absent("cmp_topk_length"),
        TensorOf("sinks", ACL_FLOAT, {64}),
        TensorOf("metadata", ACL_INT32, {1024}),
        TensorOf("attn_out", ACL_BF16, {6, 64, 512}),
        Absent("softmax_lse"),
    };
    attributes = {4, 4, 3, 127, 0, "TND", "PA_BBND"};
  }
};

}  // namespace sfmla::test
