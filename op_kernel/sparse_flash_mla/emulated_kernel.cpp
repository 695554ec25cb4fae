// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/emulated_kernel.h"

#include <cassert>
#include <utility>

extern "C" void sparse_flash_mla(uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*,
                                 uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*,
                                 uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*, uint8_t*,
                                 uint8_t*, uint8_t*, uint8_t*, uint8_t*);

namespace sfmla {
namespace {

template <size_t... slots>
void Call(std::span<void* const> operands, uint8_t* workspace, uint8_t* tiling,
          std::index_sequence<slots...>) {
  sparse_flash_mla(static_cast<uint8_t*>(operands[slots])..., workspace, tiling);
}

}  // namespace

void RunSparseFlashMlaKernel(std::span<void* const> operands, void* workspace, void* tiling) {
  assert(operands.size() == smla_operand::kCount);
  Call(operands, static_cast<uint8_t*>(workspace), static_cast<uint8_t*>(tiling),
       std::make_index_sequence<smla_operand::kCount>());
}

}  // namespace sfmla
