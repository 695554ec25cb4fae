// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_avx2
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_avx2 = SFMLA_ISA_NAMESPACE::MakeTable("avx2");

}  // namespace sfmla
