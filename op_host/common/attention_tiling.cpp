// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/attention_tiling.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "op_kernel/arch/cpu/row_attention.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/common/attention_tiling.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/common/schedule.h"
#include "runtime/device.h"

namespace sfmla {
namespace {

// Slots for the partial results of split rows. How many rows of q are used is known on the device
// only, so a long padded q gets them too; memory that is not used is never touched.
int64_t SplitSlots(const AttentionProblem& problem) {
  const int64_t rows = std::min<int64_t>(problem.query_rows, kCubeRecords);
  return std::min(rows * RowBlocks::kMaxChunks, kMaxSplitSlots);
}

AttentionWorkspace PlanWorkspace(const AttentionProblem& problem, const AttentionTarget& target,
                                 WorkspaceSum* sum) {
  const int64_t padded_heads = AlignUp(problem.rules.heads, target.head_alignment);
  AttentionWorkspace out;
  out.threads = target.threads;
  out.scratch_bytes = ThreadScratch::Bytes(padded_heads, problem.rules.has_rope != 0);
  out.scratch_offset = sum->Add(out.threads * out.scratch_bytes);
  out.split_slots = SplitSlots(problem);
  out.split_offset = sum->Add(out.split_slots * SplitSlotFloats(padded_heads) *
                              static_cast<int64_t>(sizeof(float)));
  return out;
}

AttentionTiling TilingOf(const AttentionProblem& problem) {
  AttentionTiling out;
  out.rules = problem.rules;
  out.is_bfloat16 = problem.is_bfloat16;
  out.softmax_scale = problem.softmax_scale;
  out.batch = problem.batch;
  out.query_extent = problem.query_extent;
  out.query_rows = problem.query_rows;
  out.ori = problem.ori;
  out.cmp = problem.cmp;
  out.ori_rope = problem.ori_rope;
  out.ori_value = problem.ori_value;
  out.return_softmax_lse = problem.return_softmax_lse;
  return out;
}

}  // namespace

Result<AttentionTarget> ProcessAttentionTarget() {
  const Result<const TileKernels*>& kernels = ProcessTileKernels();
  if (!kernels.ok()) return kernels.status();
  const SocTraits& soc = CurrentSoc();
  const bool is_cpu = CurrentDeviceKind() == DeviceKind::kCpu;
  return AttentionTarget{ProcessThreadPool().num_threads(), kernels.value()->head_alignment,
                         soc.kv_block_tokens, is_cpu ? 0 : soc.cube_cores};
}

Launch PlanAttention(const OperatorKernel& op, std::span<const OperandArg> operands,
                     std::span<const OperandUse> uses, const AttentionProblem& problem,
                     const AttentionTarget& target) {
  Launch out;
  out.op_name = op.op_name;
  out.kernel_id = op.kernel_id;
  if (problem.query_rows == 0) {
    out.nothing_to_do = true;
    return out;
  }
  WorkspaceSum workspace;
  AddOperands(operands, uses, &workspace, &out);
  AttentionTiling tiling = TilingOf(problem);
  tiling.block_tokens = static_cast<int32_t>(target.block_tokens);
  if (target.device_groups > 0) {
    const DeviceWorkspace device = PlanDeviceWorkspace(problem.rules, target.device_groups,
                                                       SplitSlots(problem), workspace.bytes());
    out.tiling = TilingBytes(AttentionDeviceTiling{tiling, device});
    out.workspace_bytes = static_cast<uint64_t>(device.bytes);
    return out;
  }
  tiling.workspace = PlanWorkspace(problem, target, &workspace);
  out.tiling = TilingBytes(tiling);
  out.workspace_bytes = static_cast<uint64_t>(workspace.bytes());
  return out;
}

}  // namespace sfmla
