// SPDX-License-Identifier: Apache-2.0
// What SparseAttnSharedkv and its planner take length tensors to mean.
#pragma once

#include "op_kernel/common/length_tensors.h"

namespace sfmla {

inline void ApplySharedKvRules(LengthTensors* lengths) {
  lengths->names.seqused_ori_kv = "seqused_kv";
  lengths->names.paged_layout = "PA_ND";
  lengths->cmp_follows_ori = true;
  lengths->uses_residual = false;
  lengths->rows_need_a_token = true;
}

}  // namespace sfmla
