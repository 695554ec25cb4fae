// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_neonbf16
#define SFMLA_USE_NEON
#define SFMLA_USE_NEON_BF16
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_neonbf16 = SFMLA_ISA_NAMESPACE::MakeTable("neonbf16");

}  // namespace sfmla
