// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/planner_checks.h"

#include "base/format.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/schedule.h"
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

Status CheckPlannedHeads(const PlannerArgs& args) {
  if (args.num_heads_q < 1 || args.num_heads_q > kMaxHeads) {
    return Refuse(Str("num_heads_q: ", args.num_heads_q, ", must be in [1, ", kMaxHeads, "]"));
  }
  if (args.num_heads_kv != 1)
    return Refuse(Str("num_heads_kv: ", args.num_heads_kv, ", must be 1"));
  if (args.head_dim == kHeadDim) return Status::Ok();
  return Refuse(Str("head_dim: ", args.head_dim, ", must be ", kHeadDim));
}

Status CheckPlannedRows(int64_t batch, int64_t max_seqlen_q) {
  if (batch == 0 || max_seqlen_q <= kMaxPlannedRows / batch) return Status::Ok();
  if (batch > kMaxPlannedRows) {
    return Refuse(Str("batch_size: ", batch, ", must be at most ", kMaxPlannedRows,
                      ", a query row for each request"));
  }
  return Refuse(Str("max_seqlen_q: ", max_seqlen_q, ", must be at most ", kMaxPlannedRows / batch,
                    " for ", batch, " requests"));
}

Status SetPlannedRules(const PlannerArgs& args, const AttentionParts& parts,
                       const LayoutNames& names, PlannerProblem* problem) {
  const Result<AttentionRules> rules = CheckAttributes(args.attributes, parts, names);
  if (!rules.ok()) return rules.status();
  problem->rules = rules.value();
  problem->rules.heads = static_cast<int32_t>(args.num_heads_q);
  return Status::Ok();
}

void FixBatch(AxisTable* axes, int64_t batch, const char* why) {
  axes->Fix(Axis::kB, batch, why);
  axes->Fix(Axis::kBPlus1, batch + 1, why);
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
