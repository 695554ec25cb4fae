// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_neon
#define SFMLA_USE_NEON
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_neon = SFMLA_ISA_NAMESPACE::MakeTable("neon");

}  // namespace sfmla
