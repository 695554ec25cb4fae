// SPDX-License-Identifier: Apache-2.0
// Checks that the planners of the family make in the same way and in the same words. All 161002.
#pragma once

#include <cstdint>

#include "op_host/common/attention_attributes.h"
#include "op_host/common/operand_table.h"

namespace sfmla {

// What callers of every planner give beside tensors.
struct PlannerArgs {
  int64_t num_heads_q = 0;
  int64_t num_heads_kv = 0;
  int64_t head_dim = 0;
  int64_t batch_size = 0;
  int64_t max_seqlen_q = 0;
  int64_t cmp_topk = 0;
  AttentionAttributes attributes;
  bool has_cmp_kv = false;
};

// What every planner knows about a call once it has been checked.
struct PlannerProblem {
  AttentionRules rules;
  int64_t batch = 0;
  // Extents stand in for lengths no tensor gives, and bound those a tensor gives.
  int64_t query_extent = 0;
  int64_t ori_extent = 0;
};

// 0..most.
Status CheckCount(const char* name, int64_t value, int64_t most = INT32_MAX);

// At least 0.
Status CheckMaximum(const char* name, int64_t tokens);

Status CheckPlannedHeads(const PlannerArgs& args);

// Of a planner where max_seqlen_q is the rows of each request: not more in all than it can plan.
Status CheckPlannedRows(int64_t batch, int64_t max_seqlen_q);

// The rules of the problem, heads included.
Status SetPlannedRules(const PlannerArgs& args, const AttentionParts& parts,
                       const LayoutNames& names, PlannerProblem* problem);

// Says how many requests there are, and why.
void FixBatch(AxisTable* axes, int64_t batch, const char* why);

// The output: a contiguous INT32 tensor of as many words as a plan has.
Status CheckPlanOutput(OperandTable* table, int slot);

}  // namespace sfmla
