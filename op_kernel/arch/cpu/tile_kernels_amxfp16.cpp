// SPDX-License-Identifier: Apache-2.0
#define SFMLA_ISA_NAMESPACE isa_amxfp16
#include "op_kernel/arch/cpu/amx_float16_impl.h"

namespace sfmla {

extern const TileKernels kTileKernels_amxfp16 = SFMLA_ISA_NAMESPACE::MakeTable(
    "amxfp16", SFMLA_ISA_NAMESPACE::MakeAmxBfloat16(), SFMLA_ISA_NAMESPACE::MakeAmxFloat16());

}  // namespace sfmla
