// SPDX-License-Identifier: Apache-2.0
// Attention of a whole call on dav-2201 (Atlas A2, A3): which core runs what. Operators of the
// family call it from their kernel entry.
//
// Per tile of up to 512 candidates of a query row, through a ring of slots in the workspace:
//
//   vector  gather_stage.h   keys that an index list picks, brought together
//   cube    cube_core.h      scores = query x keys, all heads at once
//   vector  softmax_stage.h  probabilities, relative to the running maximum of the chunk
//   cube    cube_core.h      values = probabilities x keys
//   vector  output_stage.h   running output of the chunk, in UB; at its end sinks, division, LSE
//
// and, after all tiles, merge_stage.h for rows whose chunks belong to several groups. A row's bits
// depend on the row alone: on no plan, number of groups, or order of events. Any block size, head
// count, layout and mask of AttentionRules; no rotary part and no lists of token blocks yet. Values
// of length tensors must have been checked (length_tensors.h), and the plan compared with the call;
// a page that does not exist is a fault of the copy that needs it.
#pragma once

#include "op_kernel/arch/dav_2201/cube_core.h"
#include "op_kernel/arch/dav_2201/vector_core.h"

namespace sfmla::dav_2201 {

// T: type of q, keys and output. Every core of a launch of KERNEL_TYPE_MIX_AIC_1_2 on
// tiling.workspace.groups groups calls it.
template <typename T>
__aicore__ inline void RunAttention(const AttentionDeviceTiling& tiling,
                                    const KernelOperandAddresses& operands) {
  const int64_t groups = AscendC::GetBlockNum();
  const int64_t core = AscendC::GetBlockIdx();
  const int64_t cores_per_group = AscendC::GetTaskRatio();
  int64_t group = core;
  if ASCEND_IS_AIV {
    group = core / cores_per_group;
  }
  KernelTensors<T> tensors;
  SetTensors(tiling, group, operands, &tensors);
  SplitTable splits;
  splits.Fill(tensors.metadata, tiling, tensors.lengths);
  WorkCursor<T> cursor(tensors, tiling.call, splits, group, groups);
  if ASCEND_IS_AIC {
    CubeCore<T> cube(tensors, tiling.call);
    cube.Run(&cursor);
  } else {
    VectorCore<T> vector(tensors, tiling.call, core, groups * cores_per_group,
                         AscendC::GetSubBlockIdx());
    vector.Run(&cursor, splits);
  }
}

}  // namespace sfmla::dav_2201
