// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseFlashAttention (no sinks) or aclnnSparseFlashAttentionV2 as given.
#pragma once

#include <array>
#include <cstdint>

#include "op_host/common/operand.h"
#include "op_kernel/sparse_flash_attention/tiling_data.h"

namespace sfmla {

struct SparseFlashAttentionArgs {
  // Name of the operator in the text of stream errors.
  const char* op_name = "";
  std::array<OperandArg, sparse_flash_operand::kCount> operands;
  double scale_value = 1.0;
  int64_t sparse_block_size = 1;  // tokens
  const char* layout_query = nullptr;
  const char* layout_kv = nullptr;
  int64_t sparse_mode = 3;
  int64_t pre_tokens = INT64_MAX;
  int64_t next_tokens = INT64_MAX;
  int64_t attention_mode = 2;
  bool return_softmax_lse = false;
};

}  // namespace sfmla
