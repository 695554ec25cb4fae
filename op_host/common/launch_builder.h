// SPDX-License-Identifier: Apache-2.0
// Turns a checked call into a Launch: operand slots, contiguous copies, workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "op_host/common/operand.h"
#include "runtime/executor.h"

namespace sfmla {

// How an operator treats one of its operands.
struct OperandUse {
  bool used = false;
  bool is_output = false;
  bool strided = false;  // the kernel takes the strides as they are
};

// Workspace slices in the order they are asked for.
class WorkspaceSum {
 public:
  // Offset of a new slice, aligned for the kernels.
  int64_t Add(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

// Fills `operands` and `copies` of a launch; the copies take the first slices of `workspace`.
void AddOperands(std::span<const OperandArg> args, std::span<const OperandUse> uses,
                 WorkspaceSum* workspace, Launch* launch);

template <typename Tiling>
std::vector<std::byte> TilingBytes(const Tiling& tiling) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&tiling);
  return {bytes, bytes + sizeof(tiling)};
}

}  // namespace sfmla
