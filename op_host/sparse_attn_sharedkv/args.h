// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkv as given.
#pragma once

#include <array>

#include "op_host/common/operand.h"
#include "op_host/common/shared_kv_checks.h"
#include "op_kernel/sparse_attn_sharedkv/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvArgs : SharedKvArgs {
  std::array<OperandArg, sharedkv_operand::kCount> operands;
  int64_t ori_kv_stride = 0;  // elements between two blocks; 0: those of the view
  int64_t cmp_kv_stride = 0;
};

}  // namespace sfmla
