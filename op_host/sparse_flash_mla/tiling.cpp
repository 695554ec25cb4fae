// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/tiling.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/common/row_attention.h"
#include "op_kernel/common/schedule.h"
#include "op_kernel/sparse_flash_mla/cpu_kernel.h"

namespace sfmla {
namespace {

// Slots for the partial results of split rows. How many rows of q are used is known on the device
// only, so a long padded q gets them too; memory that is not used is never touched.
int64_t SplitSlots(const SparseFlashMlaProblem& problem) {
  const int64_t rows = std::min<int64_t>(problem.query_rows, kCubeRecords);
  return std::min(rows * RowBlocks::kMaxChunks, kMaxSplitSlots);
}

AttentionWorkspace PlanWorkspace(const SparseFlashMlaProblem& problem, const CpuTarget& target,
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

}  // namespace

Result<CpuTarget> ProcessCpuTarget() {
  const Result<const TileKernels*>& kernels = ProcessTileKernels();
  if (!kernels.ok()) return kernels.status();
  return CpuTarget{ProcessThreadPool().num_threads(), kernels.value()->head_alignment,
                   CurrentSoc().kv_block_tokens};
}

Launch PlanSparseFlashMla(const SparseFlashMlaArgs& args, const SparseFlashMlaProblem& problem,
                          const CpuTarget& target) {
  Launch out;
  out.op_name = "aclnnSparseFlashMla";
  out.kernel_id = kSparseFlashMlaKernel;
  if (problem.query_rows == 0) {
    out.nothing_to_do = true;
    return out;
  }
  WorkspaceSum workspace;
  AddOperands(args.operands, problem.uses, &workspace, &out);

  SparseFlashMlaTiling tiling;
  tiling.rules = problem.rules;
  tiling.is_bfloat16 = problem.is_bfloat16;
  tiling.softmax_scale = problem.softmax_scale;
  tiling.batch = problem.batch;
  tiling.query_extent = problem.query_extent;
  tiling.query_rows = problem.query_rows;
  tiling.ori = problem.ori;
  tiling.cmp = problem.cmp;
  tiling.return_softmax_lse = problem.return_softmax_lse;
  tiling.block_tokens = static_cast<int32_t>(target.block_tokens);
  tiling.workspace = PlanWorkspace(problem, target, &workspace);
  out.tiling = TilingBytes(tiling);
  out.workspace_bytes = static_cast<uint64_t>(workspace.bytes());
  return out;
}

}  // namespace sfmla
