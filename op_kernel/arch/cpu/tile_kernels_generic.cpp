// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_generic
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_generic = SFMLA_ISA_NAMESPACE::MakeTable("generic");

}  // namespace sfmla
