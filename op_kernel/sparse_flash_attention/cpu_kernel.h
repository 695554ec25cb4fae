// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_flash_attention" of the CPU device, for V1 and V2. Error: 507015, a bad value in a
// length tensor or a needed block-table entry.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

inline constexpr const char* kSparseFlashAttentionKernel = "sparse_flash_attention";

Status SparseFlashAttentionCpuKernel(const KernelCall& call);

}  // namespace sfmla
