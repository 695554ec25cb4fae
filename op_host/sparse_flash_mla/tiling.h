// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch: tiling data, workspace, operand slots. Pure: the same problem on the same
// device gives the same bytes.
#pragma once

#include "base/soc.h"
#include "base/status.h"
#include "op_host/sparse_flash_mla/args.h"
#include "op_host/sparse_flash_mla/problem.h"
#include "runtime/device.h"
#include "runtime/executor.h"

namespace sfmla {

// What planning asks of the device that will run the kernel.
struct CpuTarget {
  int64_t threads = 1;
  int64_t head_alignment = 1;  // lanes that the heads are padded to
  int64_t block_tokens = 512;
};

// The target of this process, or the sentence about a wrong environment variable.
Result<CpuTarget> ProcessCpuTarget();

Launch PlanSparseFlashMla(const SparseFlashMlaArgs& args, const SparseFlashMlaProblem& problem,
                          const CpuTarget& target);

}  // namespace sfmla
