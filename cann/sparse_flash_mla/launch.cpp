// SPDX-License-Identifier: Apache-2.0
#include "cann/sparse_flash_mla/launch.h"

#include "aclnn/opdev/make_op_executor.h"
#include "aclnn/opdev/op_def.h"
#include "aclnn/opdev/op_dfx.h"

namespace l0op {
namespace {

using sfmla::cann::OperandView;

// Strides in elements, as the attributes of the definition give them; 0 for a cache that is not
// there.
struct CacheStrides {
  int64_t outer = 0;
  int64_t token = 0;
};
CacheStrides StridesOf(const OperandView& cache) {
  const size_t rank = cache.dims.size();
  CacheStrides out;
  if (!cache.given || rank < 3) return out;
  out.token = cache.strides[rank - 3];
  if (rank > 3) out.outer = cache.strides[0];
  return out;
}

}  // namespace

OP_TYPE_REGISTER(SparseFlashMla);

aclnnStatus SparseFlashMla(
    const std::array<const aclTensor*, sfmla::smla_operand::kCount>& operands,
    const sfmla::cann::SparseFlashMlaCall& call, aclOpExecutor* executor) {
  using namespace sfmla::smla_operand;
  const aclTensor* q = operands[kQ];
  const aclTensor* attn_out = operands[kAttnOut];
  L0_DFX(SparseFlashMla, q, attn_out);
  const CacheStrides ori = StridesOf(call.operands[kOriKv]);
  const CacheStrides cmp = StridesOf(call.operands[kCmpKv]);
  const float softmax_scale = static_cast<float>(call.softmax_scale);
  return ADD_TO_LAUNCHER_LIST_AICORE(
      SparseFlashMla,
      OP_INPUT(q, operands[kOriKv], operands[kCmpKv], operands[kOriSparseIndices],
               operands[kCmpSparseIndices], operands[kOriBlockTable], operands[kCmpBlockTable],
               operands[kCuSeqlensQ], operands[kCuSeqlensOriKv], operands[kCuSeqlensCmpKv],
               operands[kSequsedQ], operands[kSequsedOriKv], operands[kSequsedCmpKv],
               operands[kCmpResidualKv], operands[kOriTopkLength], operands[kCmpTopkLength],
               operands[kSinks], operands[kMetadata]),
      OP_OUTPUT(attn_out, operands[kSoftmaxLse]),
      OP_ATTR(softmax_scale, call.cmp_ratio, call.ori_mask_mode, call.cmp_mask_mode,
              call.ori_win_left, call.ori_win_right, call.layout_q, call.layout_kv,
              call.topk_value_mode, call.return_softmax_lse, ori.outer, ori.token, cmp.outer,
              cmp.token));
}

}  // namespace l0op
