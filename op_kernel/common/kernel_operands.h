// SPDX-License-Identifier: Apache-2.0
// What a kernel was given, with types.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/kernel_call.h"

namespace sfmla {

// Operands of a kernel by slot.
class KernelOperands {
 public:
  explicit KernelOperands(const KernelCall& call) : call_(call) {}

  template <typename T>
  T* At(int slot) const {
    return static_cast<T*>(call_.operands[static_cast<size_t>(slot)]);
  }
  const int32_t* Integers(int slot) const { return At<const int32_t>(slot); }
  const uint16_t* Elements(int slot) const { return At<const uint16_t>(slot); }

 private:
  const KernelCall& call_;
};

template <typename Tiling>
Tiling ReadTiling(const KernelCall& call) {
  assert(call.tiling.size() == sizeof(Tiling));
  Tiling out;
  std::memcpy(&out, call.tiling.data(), sizeof(out));
  return out;
}

}  // namespace sfmla
