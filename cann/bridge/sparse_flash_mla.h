// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla between CANN and op_host: checks, shapes and tiling, under the rules of Atlas A2
// and A3.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cann/bridge/operand_view.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla::cann {

// The arguments of aclnnSparseFlashMlaGetWorkspaceSize.
struct SparseFlashMlaCall {
  std::array<OperandView, smla_operand::kCount> operands;  // by smla_operand::Slot
  double softmax_scale = 1.0;
  int64_t cmp_ratio = 1;
  int64_t ori_mask_mode = 0;
  int64_t cmp_mask_mode = 0;
  int64_t ori_win_left = -1;
  int64_t ori_win_right = -1;
  const char* layout_q = nullptr;
  const char* layout_kv = nullptr;
  int64_t topk_value_mode = 1;
  bool return_softmax_lse = false;
};

// What a good call asks for before it can be launched.
struct SparseFlashMlaUse {
  std::array<bool, smla_operand::kCount> used{};        // the kernel touches the operand
  std::array<bool, smla_operand::kCount> contiguous{};  // and takes it contiguous only
  bool nothing_to_do = false;
};
Refusal CheckCall(const SparseFlashMlaCall& call, SparseFlashMlaUse* use);

struct SparseFlashMlaPlan {
  AttentionDeviceTiling tiling;
  uint64_t tiling_key = 0;
};
// For a launch on `groups` groups of one cube and two vector cores. The workspace begins with
// nothing of CANN's own; its size is tiling.workspace.bytes. Pure. A call without query rows is
// refused: nobody launches it.
Refusal PlanCall(const SparseFlashMlaCall& call, int64_t groups, SparseFlashMlaPlan* plan);

// Extents of softmax_lse for a q of extents `q_dims`; unknown extents (negative) stay unknown.
// `layout_q` as in a call; any other rank than the layout's gives the extents of q.
std::vector<int64_t> LseDims(const std::vector<int64_t>& q_dims, const char* layout_q);

}  // namespace sfmla::cann
