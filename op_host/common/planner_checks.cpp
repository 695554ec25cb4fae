// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/planner_checks.h"

#include "base/format.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {

Status CheckCount(const char* name, int64_t value, int64_t most) {
  if (value >= 0 && value <= most) return Status::Ok();
  return Refuse(Str(name, ": ", value, ", must be in [0, ", most, "]"));
}

Status CheckMaximum(const char* name, int64_t tokens) {
  if (tokens >= 0) return Status::Ok();
  return Refuse(Str(name, ": ", tokens, ", must be at least 0"));
}

Status CheckPlannedHeads(int64_t num_heads_q, int64_t num_heads_kv, int64_t head_dim) {
  if (num_heads_q < 1 || num_heads_q > kMaxHeads) {
    return Refuse(Str("num_heads_q: ", num_heads_q, ", must be in [1, ", kMaxHeads, "]"));
  }
  if (num_heads_kv != 1) return Refuse(Str("num_heads_kv: ", num_heads_kv, ", must be 1"));
  if (head_dim == kHeadDim) return Status::Ok();
  return Refuse(Str("head_dim: ", head_dim, ", must be ", kHeadDim));
}

Status CheckPlanOutput(OperandTable* table, int slot) {
  if (table->At(slot).handle == nullptr) {
    return Refuse(Str(table->At(slot).name, ": NULL, must be an INT32 tensor of ", kMetadataWords,
                      " elements"));
  }
  table->axes().Fix(Axis::kMetadataWords, kMetadataWords, "(words of a plan)");
  table->UseOutput(slot, true);
  SFMLA_RETURN_IF_ERROR(table->CheckInt32(slot, {Axis::kMetadataWords}));
  return CheckContiguous(table->At(slot));
}

}  // namespace sfmla
