// SPDX-License-Identifier: Apache-2.0
// Problem -> Launch, for the operators that run the attention kernel: tiling data, workspace,
// operand slots. Pure: the same problem on the same device gives the same bytes.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "op_host/common/attention_problem.h"
#include "op_host/common/launch_builder.h"
#include "runtime/executor.h"

namespace sfmla {

// What planning asks of the device that will run the kernel.
struct AttentionTarget {
  int64_t threads = 1;
  int64_t head_alignment = 1;  // lanes that the heads are padded to
  int64_t block_tokens = 512;
  // Groups of cores of a device whose kernel gets an AttentionDeviceTiling; 0: the CPU.
  int64_t device_groups = 0;
};

// The target of this process, or the sentence about a wrong environment variable.
Result<AttentionTarget> ProcessAttentionTarget();

Launch PlanAttention(const OperatorKernel& op, std::span<const OperandArg> operands,
                     std::span<const OperandUse> uses, const AttentionProblem& problem,
                     const AttentionTarget& target);

}  // namespace sfmla
