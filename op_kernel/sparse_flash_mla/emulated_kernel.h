// SPDX-License-Identifier: Apache-2.0
// The Ascend C kernel of SparseFlashMla as a function of the host, for launches on emulated cores.
#pragma once

#include <cstdint>
#include <span>

#include "op_kernel/sparse_flash_mla/tiling_data.h"

namespace sfmla {

// One core's program. `operands` by smla_operand::Slot, nullptr where the call has none;
// `workspace` and `tiling`, the bytes of an AttentionDeviceTiling, as the kernel gets them.
void RunSparseFlashMlaKernel(std::span<void* const> operands, void* workspace, void* tiling);

}  // namespace sfmla
