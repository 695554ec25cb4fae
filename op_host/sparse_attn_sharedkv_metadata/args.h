// SPDX-License-Identifier: Apache-2.0
// A call of aclnnSparseAttnSharedkvMetadata as given, without what it has no use for.
#pragma once

#include <array>

#include "op_host/common/attention_attributes.h"
#include "op_host/common/operand.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/tiling_data.h"

namespace sfmla {

struct SparseAttnSharedkvMetadataArgs {
  std::array<OperandArg, sharedkv_metadata_operand::kCount> operands;
  int64_t num_heads_q = 0;
  int64_t num_heads_kv = 0;
  int64_t head_dim = 0;
  int64_t batch_size = 0;
  int64_t max_seqlen_q = 0;
  int64_t max_seqlen_kv = 0;
  int64_t cmp_topk = 0;
  AttentionAttributes attributes;
  bool has_cmp_kv = false;
};

}  // namespace sfmla
