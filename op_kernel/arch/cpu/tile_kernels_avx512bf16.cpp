// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_avx512bf16
#include "op_kernel/arch/cpu/tile_kernels_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_avx512bf16 = SFMLA_ISA_NAMESPACE::MakeTable("avx512bf16");

}  // namespace sfmla
