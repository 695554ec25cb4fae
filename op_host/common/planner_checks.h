// SPDX-License-Identifier: Apache-2.0
// Checks that the planners of the family make in the same way and in the same words. All 161002.
#pragma once

#include <cstdint>

#include "op_host/common/operand_table.h"

namespace sfmla {

// 0..most.
Status CheckCount(const char* name, int64_t value, int64_t most = INT32_MAX);

// At least 0.
Status CheckMaximum(const char* name, int64_t tokens);

Status CheckPlannedHeads(int64_t num_heads_q, int64_t num_heads_kv, int64_t head_dim);

// The output: a contiguous INT32 tensor of as many words as a plan has.
Status CheckPlanOutput(OperandTable* table, int slot);

}  // namespace sfmla
