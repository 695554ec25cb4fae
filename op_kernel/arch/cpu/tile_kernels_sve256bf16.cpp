// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_sve256bf16
#define SFMLA_USE_SVE
#define SFMLA_USE_SVE_BF16
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_sve256bf16 = SFMLA_ISA_NAMESPACE::MakeTable("sve256bf16");

}  // namespace sfmla
