// SPDX-License-Identifier: Apache-2.0
// SparseFlashMlaMetadata between CANN and op_host, on the host's side.
#pragma once

#include <array>
#include <cstdint>

#include "cann/bridge/operand_view.h"
#include "cann/bridge/tiling_words.h"
#include "op_kernel/sparse_flash_mla_metadata/tiling_data.h"

namespace sfmla::cann {

// The arguments of aclnnSparseFlashMlaMetadataGetWorkspaceSize.
struct SparseFlashMlaMetadataCall {
  std::array<OperandView, metadata_operand::kCount> operands;  // by metadata_operand::Slot
  int64_t num_heads_q = 0;
  int64_t num_heads_kv = 0;
  int64_t head_dim = 0;
  int64_t batch_size = 0;
  int64_t max_seqlen_q = 0;
  int64_t max_seqlen_ori_kv = 0;
  int64_t max_seqlen_cmp_kv = 0;
  int64_t ori_topk = 0;
  int64_t cmp_topk = 0;
  int64_t cmp_ratio = 1;
  int64_t ori_mask_mode = 0;
  int64_t cmp_mask_mode = 0;
  int64_t ori_win_left = -1;
  int64_t ori_win_right = -1;
  const char* layout_q = nullptr;
  const char* layout_kv = nullptr;
  bool has_ori_kv = true;
  bool has_cmp_kv = true;
};

struct SparseFlashMlaMetadataPlan {
  TilingWords tiling{};
  std::array<bool, metadata_operand::kCount> used{};
};
// A plan for a device with these cores. Pure.
Refusal PlanCall(const SparseFlashMlaMetadataCall& call, int64_t cube_cores, int64_t vector_cores,
                 SparseFlashMlaMetadataPlan* plan);

}  // namespace sfmla::cann
