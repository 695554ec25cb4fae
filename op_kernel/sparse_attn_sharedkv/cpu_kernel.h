// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_attn_sharedkv" of the CPU device. Errors: 507018 metadata of another call, 507015
// a bad value in a length tensor or a needed block-table entry.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

inline constexpr const char* kSparseAttnSharedkvKernel = "sparse_attn_sharedkv";

Status SparseAttnSharedkvCpuKernel(const KernelCall& call);

}  // namespace sfmla
