// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_sve256
#define SFMLA_USE_SVE
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_sve256 = SFMLA_ISA_NAMESPACE::MakeTable("sve256");

}  // namespace sfmla
