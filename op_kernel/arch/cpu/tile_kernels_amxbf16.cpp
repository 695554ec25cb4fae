// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_amxbf16
#include "op_kernel/arch/cpu/amx_products_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_amxbf16 =
    SFMLA_ISA_NAMESPACE::MakeTable("amxbf16", SFMLA_ISA_NAMESPACE::MakeAmxBfloat16());

}  // namespace sfmla
