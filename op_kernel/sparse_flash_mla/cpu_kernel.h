// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_flash_mla" of the CPU device. Errors: 507018 metadata of another call, 507015 a
// bad value in a length tensor or a needed block-table entry.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

inline constexpr const char* kSparseFlashMlaKernel = "sparse_flash_mla";

Status SparseFlashMlaCpuKernel(const KernelCall& call);

}  // namespace sfmla
