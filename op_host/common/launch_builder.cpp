// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/launch_builder.h"

#include <cassert>

#include "base/checked_math.h"
#include "op_kernel/common/workspace_layout.h"

namespace sfmla {

bool IsCopied(const OperandArg& operand, const OperandUse& use) {
  return use.used && !use.is_output && !use.strided && !IsContiguous(operand.desc);
}

int64_t WorkspaceSum::Add(int64_t bytes) {
  const int64_t offset = bytes_;
  bytes_ += AlignUp(bytes, kWorkspaceAlignment);
  return offset;
}

void AddOperands(std::span<const OperandArg> args, std::span<const OperandUse> uses,
                 WorkspaceSum* workspace, Launch* launch) {
  assert(args.size() == uses.size() && args.size() <= kMaxOperands);
  launch->operands.resize(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    Operand& operand = launch->operands[i];
    operand.name = args[i].name;
    operand.handle = args[i].handle;
    operand.desc = args[i].desc;
    operand.is_output = uses[i].is_output;
    operand.used = uses[i].used;
    if (IsCopied(args[i], uses[i])) {
      const int64_t bytes = args[i].desc.num_elements() * DataTypeBytes(args[i].desc.dtype);
      launch->copies.push_back({i, static_cast<uint64_t>(workspace->Add(bytes))});
    }
  }
}

}  // namespace sfmla
