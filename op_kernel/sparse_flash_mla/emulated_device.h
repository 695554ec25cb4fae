// SPDX-License-Identifier: Apache-2.0
// Kernel "sparse_flash_mla" of the emulated devices: the Ascend C kernel on emulated cores. Errors:
// 507018 metadata of another call; 507015 a bad value in a length tensor, or what the emulator
// found wrong with the kernel or with the memory it touched.
#pragma once

#include "base/kernel_call.h"

namespace sfmla {

Status SparseFlashMlaEmulatedKernel(const KernelCall& call);

}  // namespace sfmla
