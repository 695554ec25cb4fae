// SPDX-License-Identifier: Apache-2.0
#include "cann/bridge/planner.h"

#include "op_kernel/sparse_flash_mla_metadata/cpu_kernel.h"

namespace sfmla::cann {

Refusal WriteMetadata(const TilingWords& tiling, const PlannerOperands& operands) {
  KernelCall call;
  call.tiling = std::as_bytes(std::span(tiling));
  call.operands = operands;
  const Status status = SparseFlashMlaMetadataCpuKernel(call);
  return {status.code(), status.text()};
}

}  // namespace sfmla::cann
