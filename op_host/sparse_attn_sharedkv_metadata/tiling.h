// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch of the planner. Pure.
#pragma once

#include "op_host/sparse_attn_sharedkv_metadata/args.h"
#include "op_host/sparse_attn_sharedkv_metadata/problem.h"
#include "runtime/device.h"
#include "runtime/executor.h"

namespace sfmla {

Launch PlanSparseAttnSharedkvMetadata(const SparseAttnSharedkvMetadataArgs& args,
                                      const SparseAttnSharedkvMetadataProblem& problem,
                                      const CoreCounts& cores);

}  // namespace sfmla
