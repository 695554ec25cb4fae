// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_attn_sharedkv_metadata" of the CPU device. Error: 507018 for a bad value in a
// length tensor; the words are then all 0.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

inline constexpr const char* kSparseAttnSharedkvMetadataKernel = "sparse_attn_sharedkv_metadata";

Status SparseAttnSharedkvMetadataCpuKernel(const KernelCall& call);

}  // namespace sfmla
