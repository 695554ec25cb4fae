// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_flash_mla_metadata": checks the length values and writes the 1024 words. On a bad
// value it writes zeros, which the main operator refuses, and returns 507018.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

inline constexpr const char* kSparseFlashMlaMetadataKernel = "sparse_flash_mla_metadata";

Status SparseFlashMlaMetadataCpuKernel(const KernelCall& call);

}  // namespace sfmla
