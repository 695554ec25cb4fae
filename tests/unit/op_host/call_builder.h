// SPDX-License-Identifier: Apache-2.0
// A valid CSA call (TND queries, paged caches) to spoil one operand or attribute of at a time. No
// device memory: data pointers stay NULL, as in planning.
#pragma once

#include <initializer_list>
#include <string>

#include "op_host/sparse_flash_mla/args.h"

namespace sfmla::test {

inline OperandArg TensorOf(const char* name, aclDataType dtype,
                           std::initializer_list<int64_t> dims) {
  OperandArg out;
  out.name = name;
  // Only compared with NULL below; what it points to is never looked at.
  out.handle = reinterpret_cast<const aclTensor*>(uintptr_t{1});
  out.live = true;
  out.desc.dtype = dtype;
  out.desc.format = ACL_FORMAT_ND;
  out.desc.rank = static_cast<int64_t>(dims.size());
  size_t axis = 0;
  for (const int64_t dim : dims) out.desc.dims[axis++] = dim;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    out.desc.strides[i] = stride;
    stride *= out.desc.dims[i];
  }
  return out;
}

inline OperandArg Absent(const char* name) {
  OperandArg out;
  out.name = name;
  return out;
}

struct Call : SparseFlashMlaArgs {
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

  OperandArg& operator[](smla_operand::Slot slot) { return operands[static_cast<size_t>(slot)]; }
  void Replace(smla_operand::Slot slot, aclDataType dtype, std::initializer_list<int64_t> dims) {
    (*this)[slot] = TensorOf((*this)[slot].name, dtype, dims);
  }
  void Remove(smla_operand::Slot slot) { (*this)[slot] = Absent((*this)[slot].name); }
};

}  // namespace sfmla::test
