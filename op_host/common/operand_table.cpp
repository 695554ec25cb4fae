// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/operand_table.h"

#include "base/checked_math.h"
#include "base/format.h"
#include "runtime/memory_overlap.h"

namespace sfmla {

Status OperandTable::CheckHandles(std::initializer_list<int> required) const {
  for (const int slot : required) {
    if (At(slot).handle == nullptr) {
      return Status(code::kAclnnParamNullptr, Str(At(slot).name, ": NULL, must be a tensor"));
    }
  }
  for (const OperandArg& operand : args_) SFMLA_RETURN_IF_ERROR(CheckLive(operand));
  return Status::Ok();
}

Status OperandTable::Require(int slot, const char* why) const {
  const bool is_null = At(slot).handle == nullptr;
  if (At(slot).present() || (allow_empty_ && !is_null)) return Status::Ok();
  return Status(is_null ? null_code_ : code::kAclnnParamInvalid,
                Str(At(slot).name, ": absent, must be given ", why));
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
  for (size_t slot = 0; slot < args_.size(); ++slot) {
    if (uses_[slot].used && uses_[slot].is_output) SFMLA_RETURN_IF_ERROR(CheckOwnMemory(slot));
  }
  return CheckCopies();
}

// A view may repeat its elements, so a copy may need far more bytes than the view covers.
Status OperandTable::CheckCopies() const {
  constexpr int64_t kMostBytes = int64_t{1} << 47;  // what the addresses of a process name
  int64_t total = 0;
  for (size_t slot = 0; slot < args_.size(); ++slot) {
    if (!IsCopied(args_[slot], uses_[slot])) continue;
    const TensorDesc& desc = args_[slot].desc;
    const auto bytes = CheckedMul(desc.num_elements(), DataTypeBytes(desc.dtype));
    if (bytes && *bytes <= kMostBytes - total) {
      total += *bytes;
      continue;
    }
    return Refuse(Str(args_[slot].name, ": not contiguous, and a copy of its ", desc.num_elements(),
                      " elements does not fit into a workspace; all copies of a call take at most ",
                      kMostBytes, " bytes"));
  }
  return Status::Ok();
}

Status OperandTable::CheckOwnMemory(size_t output) const {
  for (size_t slot = 0; slot < args_.size(); ++slot) {
    if (slot == output || !uses_[slot].used) continue;
    if (!SharesMemory(args_[output].desc, args_[slot].desc)) continue;
    return Refuse(SharedMemoryText(args_[output].name, args_[slot].name));
  }
  return Status::Ok();
}

}  // namespace sfmla
