// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch of the planner. Pure.
#pragma once

#include "op_host/sparse_flash_mla_metadata/args.h"
#include "op_host/sparse_flash_mla_metadata/problem.h"
#include "runtime/device.h"
#include "runtime/executor.h"

namespace sfmla {

Launch PlanSparseFlashMlaMetadata(const SparseFlashMlaMetadataArgs& args,
                                  const SparseFlashMlaMetadataProblem& problem,
                                  const CoreCounts& cores, const SocTraits& soc);

}  // namespace sfmla
