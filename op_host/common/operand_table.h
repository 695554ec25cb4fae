// SPDX-License-Identifier: Apache-2.0
// The operands of a call while it is being checked: which ones the mode uses, which must be there,
// and how their axes fit together.
#pragma once

#include <initializer_list>
#include <span>

#include "op_host/common/launch_builder.h"
#include "op_host/common/operand.h"

namespace sfmla {

class OperandTable {
 public:
  // Both spans have one entry per slot of the operator and outlive the table. `null_code` is what
  // the operator answers where a tensor that only some calls need is NULL.
  OperandTable(std::span<const OperandArg> args, std::span<OperandUse> uses,
               int32_t null_code = code::kAclnnParamInvalid)
      : args_(args), uses_(uses), null_code_(null_code) {}

  const OperandArg& At(int slot) const { return args_[static_cast<size_t>(slot)]; }
  bool Used(int slot) const { return uses_[static_cast<size_t>(slot)].used; }
  AxisTable& axes() { return axes_; }
  const AxisTable& axes() const { return axes_; }

  // Every handle is NULL or a live tensor, and those of `required` are not NULL (161001).
  Status CheckHandles(std::initializer_list<int> required = {}) const;

  // The operand is there: "cu_seqlens_q: absent, must be given with layout_q TND".
  Status Require(int slot, const char* why) const;
  // From here on a required tensor may be empty, as there is no work for it.
  void AllowEmpty() { allow_empty_ = true; }

  // The mode uses the operand if it is there.
  void Use(int slot, bool strided = false) {
    uses_[static_cast<size_t>(slot)] = {.used = At(slot).present(), .strided = strided};
  }
  // Required ones count as used even when empty: the check of their extents names the right size.
  void UseAlways(int slot) { uses_[static_cast<size_t>(slot)].used = true; }
  void UseOutput(int slot, bool used) {
    uses_[static_cast<size_t>(slot)] = {.used = used, .is_output = true};
  }

  // INT32 with these axes, if the operand is used.
  Status CheckInt32(int slot, std::initializer_list<Axis> axes);

  // Format and data pointer of every used operand, that no output shares memory with another, and
  // that a workspace can hold the contiguous copies.
  Status CheckUsedData() const;

 private:
  Status CheckOwnMemory(size_t output) const;
  Status CheckCopies() const;

  std::span<const OperandArg> args_;
  std::span<OperandUse> uses_;
  int32_t null_code_;
  bool allow_empty_ = false;
  AxisTable axes_;
};

}  // namespace sfmla
