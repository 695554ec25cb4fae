// SPDX-License-Identifier: Apache-2.0
// Turns a checked call into a Launch: operand slots, contiguous copies, workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "op_host/common/operand.h"
#include "runtime/executor.h"

namespace sfmla {

// How an operator treats one of its operands.
struct OperandUse {
  bool used = false;
  bool is_output = false;
  bool strided = false;  // the kernel takes the strides as they are
};

// Whether the kernel gets a contiguous copy of the operand.
bool IsCopied(const OperandArg& operand, const OperandUse& use);

// Workspace slices in the order they are asked for.
class WorkspaceSum {
 public:
  // Offset of a new slice, aligned for the kernels.
  int64_t Add(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

// Who is called: its name in the text of stream errors, and its kernel.
struct OperatorKernel {
  const char* op_name = "";
  const char* kernel_id = "";
};

// Fills `operands` and `copies` of a launch; the copies take the first slices of `workspace`.
void AddOperands(std::span<const OperandArg> args, std::span<const OperandUse> uses,
                 WorkspaceSum* workspace, Launch* launch);

template <typename Tiling>
std::vector<std::byte> TilingBytes(const Tiling& tiling) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&tiling);
  return {bytes, bytes + sizeof(tiling)};
}

// The launch of a kernel that needs no workspace but for contiguous copies.
template <typename Tiling>
Launch SimpleLaunch(const OperatorKernel& op, std::span<const OperandArg> args,
                    std::span<const OperandUse> uses, const Tiling& tiling) {
  Launch out;
  out.op_name = op.op_name;
  out.kernel_id = op.kernel_id;
  WorkspaceSum workspace;
  AddOperands(args, uses, &workspace, &out);
  out.tiling = TilingBytes(tiling);
  out.workspace_bytes = static_cast<uint64_t>(workspace.bytes());
  return out;
}

}  // namespace sfmla
