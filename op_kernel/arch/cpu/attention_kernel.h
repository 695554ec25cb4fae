// SPDX-License-Identifier: Apache-2.0
// The attention of a whole call on the CPU device: what the operators of the family share once each
// has said, in its own terms, where its tensors are.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "op_kernel/arch/cpu/row_attention.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/cache_geometry.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/common/schedule_words.h"
#include "op_kernel/common/workspace_layout.h"

namespace sfmla {

// One cache: its pool, how to find a token in it, and which tokens a list selects.
struct KvOperand {
  CacheGeometry geometry;
  const uint16_t* pool = nullptr;
  const int32_t* block_table = nullptr;  // (B, columns); paged caches only
  const char* block_table_name = "";     // for the fault text
  const int32_t* indices = nullptr;      // (query rows, top-k); nullptr: dense
  const int32_t* topk_length = nullptr;  // (query rows)
};

// A second pool of a cache: the same pages, requests and tokens in rows of another width.
struct CompanionPool {
  CacheGeometry geometry;
  const uint16_t* pool = nullptr;  // nullptr: there is none
};

struct AttentionCall {
  AttentionRules rules;
  ElementType type = ElementType::kFloat16;
  float softmax_scale = 1.0f;
  int64_t block_tokens = 512;  // candidates of a block, as planned with
  int64_t query_rows = 0;      // rows of q: B x S1 or T1
  LengthTensors lengths;

  const uint16_t* q = nullptr;       // (query rows, heads, kHeadDim)
  const uint16_t* q_rope = nullptr;  // (query rows, heads, kRopeDim) if the rules say so
  KvOperand ori;
  KvOperand cmp;
  CompanionPool ori_rope;
  CompanionPool ori_value;       // none: the keys are the values
  const float* sinks = nullptr;  // (heads); nullptr: none

  uint16_t* out = nullptr;   // (query rows, heads, kHeadDim)
  RowStatistics statistics;  // of row 0; (query rows, heads) each

  AttentionWorkspace layout;
  void* workspace = nullptr;
};

// Runs the call over the thread pool as `schedule` says; results do not depend on it. 507015: a bad
// value in a length tensor, or a needed block-table entry that names no page.
Status RunAttention(const AttentionCall& call, const Schedule& schedule);

// The same for operators that are given no plan.
Status PlanAndRunAttention(const AttentionCall& call);

}  // namespace sfmla
