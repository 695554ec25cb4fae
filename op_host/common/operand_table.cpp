// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/operand_table.h"

#include "base/format.h"

namespace sfmla {

Status OperandTable::CheckHandles() const {
  for (const OperandArg& operand : args_) SFMLA_RETURN_IF_ERROR(CheckLive(operand));
  return Status::Ok();
}

Status OperandTable::Require(int slot, const char* why) const {
  if (At(slot).present()) return Status::Ok();
  return Refuse(Str(At(slot).name, ": absent, must be given ", why));
}

Status OperandTable::CheckInt32(int slot, std::initializer_list<Axis> axes) {
  if (!Used(slot)) return Status::Ok();
  SFMLA_RETURN_IF_ERROR(CheckDtype(At(slot), ACL_INT32, ""));
  return axes_.Bind(At(slot), axes);
}

Status OperandTable::CheckUsedData() const {
  for (size_t slot = 0; slot < args_.size(); ++slot) {
    if (!uses_[slot].used) continue;
    SFMLA_RETURN_IF_ERROR(CheckFormat(args_[slot]));
    SFMLA_RETURN_IF_ERROR(CheckData(args_[slot]));
  }
  return Status::Ok();
}

}  // namespace sfmla
