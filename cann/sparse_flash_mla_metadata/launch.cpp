// SPDX-License-Identifier: Apache-2.0
#include "cann/sparse_flash_mla_metadata/launch.h"

#include "aclnn/opdev/aicpu/aicpu_task.h"
#include "aclnn/opdev/make_op_executor.h"
#include "aclnn/opdev/op_def.h"
#include "aclnn/opdev/op_dfx.h"

namespace l0op {

OP_TYPE_REGISTER(SparseFlashMlaMetadata);

aclnnStatus SparseFlashMlaMetadata(
    const std::array<const aclTensor*, sfmla::metadata_operand::kCount>& operands,
    const sfmla::cann::TilingWords& tiling, aclOpExecutor* executor) {
  using namespace sfmla::metadata_operand;
  using sfmla::cann::kTilingWordNames;
  const aclTensor* metadata = operands[kMetadata];
  L0_DFX(SparseFlashMlaMetadata, metadata);
  const op::FVector<std::string> names(std::begin(kTilingWordNames), std::end(kTilingWordNames));
  static internal::AicpuTaskSpace space("SparseFlashMlaMetadata");
  return ADD_TO_LAUNCHER_LIST_AICPU(
      SparseFlashMlaMetadata, names,
      OP_INPUT(operands[kCuSeqlensQ], operands[kCuSeqlensOriKv], operands[kCuSeqlensCmpKv],
               operands[kSequsedQ], operands[kSequsedOriKv], operands[kSequsedCmpKv],
               operands[kCmpResidualKv], operands[kOriTopkLength], operands[kCmpTopkLength]),
      OP_OUTPUT(metadata),
      OP_ATTR(tiling[0], tiling[1], tiling[2], tiling[3], tiling[4], tiling[5], tiling[6],
              tiling[7], tiling[8], tiling[9], tiling[10], tiling[11], tiling[12], tiling[13],
              tiling[14], tiling[15], tiling[16]));
}

}  // namespace l0op
