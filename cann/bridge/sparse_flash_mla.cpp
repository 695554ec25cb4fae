// SPDX-License-Identifier: Apache-2.0
#include "cann/bridge/sparse_flash_mla.h"

#include <cassert>
#include <cstring>

#include "cann/bridge/call_parts.h"
#include "cann/sparse_flash_mla/signature.h"
#include "op_host/common/attention_checks.h"
#include "op_host/sparse_flash_mla/check.h"
#include "op_host/sparse_flash_mla/tiling.h"
#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla::cann {
namespace {

SparseFlashMlaArgs ArgsOf(const SparseFlashMlaCall& call) {
  SparseFlashMlaArgs out;
  for (size_t slot = 0; slot < call.operands.size(); ++slot) {
    out.operands[slot] = OperandOf(kSparseFlashMlaOperandNames[slot], call.operands[slot]);
  }
  out.attributes = AttributesOf(call);
  out.softmax_scale = call.softmax_scale;
  out.topk_value_mode = call.topk_value_mode;
  out.return_softmax_lse = call.return_softmax_lse;
  return out;
}

}  // namespace

Refusal CheckCall(const SparseFlashMlaCall& call, SparseFlashMlaUse* use) {
  const auto problem = CheckSparseFlashMla(ArgsOf(call), DeviceRules());
  if (!problem.ok()) return RefusalOf(problem.status());
  for (size_t slot = 0; slot < use->used.size(); ++slot) {
    const OperandUse& operand = problem->uses[slot];
    use->used[slot] = operand.used;
    use->contiguous[slot] = operand.used && !operand.is_output && !operand.strided;
  }
  use->nothing_to_do = problem->query_rows == 0;
  return {};
}

Refusal PlanCall(const SparseFlashMlaCall& call, int64_t groups, SparseFlashMlaPlan* plan) {
  const SparseFlashMlaArgs args = ArgsOf(call);
  const auto problem = CheckSparseFlashMla(args, DeviceRules());
  if (!problem.ok()) return RefusalOf(problem.status());
  if (problem->query_rows == 0) {
    return RefusalOf(Refuse("q: no query rows, a launch must have at least one"));
  }
  AttentionTarget target;
  target.block_tokens = kDeviceTileTokens;
  target.device_groups = groups;
  const Launch launch = PlanSparseFlashMla(args, problem.value(), target);
  assert(launch.copies.empty());  // the framework has made what must be contiguous so
  static_assert(sizeof(plan->tiling) == sizeof(AttentionDeviceTiling));
  std::memcpy(&plan->tiling, launch.tiling.data(), sizeof(plan->tiling));
  plan->tiling_key = problem->is_bfloat16 ? kBfloat16TilingKey : kFloat16TilingKey;
  return {};
}

std::vector<int64_t> LseDims(const std::vector<int64_t>& q_dims, const char* layout_q) {
  const Result<Layout> layout = ParseLayoutQ(layout_q);
  const size_t rank = layout.ok() && layout.value() == Layout::kBsnd ? 4 : 3;
  if (!layout.ok() || q_dims.size() != rank) return q_dims;
  std::vector<int64_t> out;
  for (const Axis axis : StatisticsAxes(layout.value())) {
    if (axis == Axis::kN2) {
      out.push_back(1);
    } else if (axis == Axis::kG) {
      out.push_back(q_dims[rank - 2]);
    } else {
      out.push_back(q_dims[axis == Axis::kS1 ? 1 : 0]);
    }
  }
  return out;
}

}  // namespace sfmla::cann
