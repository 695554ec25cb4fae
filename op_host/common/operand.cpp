// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/operand.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/checked_math.h"
#include "base/format.h"
#include "runtime/view_memory.h"

namespace sfmla {
namespace {

// What INT32 tables, lists and lengths can name.
constexpr int64_t kMostAlongAxis = INT32_MAX;

std::string AxesText(std::initializer_list<Axis> axes) {
  std::string out;
  for (const Axis axis : axes) out += Str(out.empty() ? "" : ", ", AxisName(axis));
  return Str("(", out, ")");
}

// An axis whose stride is not that of a contiguous tensor.
struct Gap {
  size_t axis = 0;
  int64_t contiguous_stride = 0;
};

// The innermost one; the stride of an axis of extent 1 does not matter.
std::optional<Gap> FirstGap(const TensorDesc& desc) {
  if (desc.num_elements() == 0) return std::nullopt;
  int64_t expected = 1;
  for (auto axis = static_cast<size_t>(desc.rank); axis-- > 0;) {
    if (desc.dims[axis] != 1 && desc.strides[axis] != expected) return Gap{axis, expected};
    expected *= desc.dims[axis];
  }
  return std::nullopt;
}

}  // namespace

OperandArg MakeOperand(const char* name, const aclTensor* handle) {
  OperandArg out;
  out.name = name;
  out.handle = handle;
  if (handle == nullptr) return out;
  if (const std::shared_ptr<Tensor> tensor = FindTensor(handle)) {
    out.live = true;
    out.desc = Describe(*tensor);
  }
  return out;
}

const char* AxisName(Axis axis) {
  switch (axis) {
    case Axis::kB:
      return "B";
    case Axis::kBPlus1:
      return "B+1";
    case Axis::kS1:
      return "S1";
    case Axis::kT1:
      return "T1";
    case Axis::kN1:
      return "N1";
    case Axis::kN2:
      return "N2";
    case Axis::kG:
      return "G";
    case Axis::kD:
      return "D";
    case Axis::kRopeD:
      return "Dr";
    case Axis::kOriOuter:
      return "pages";
    case Axis::kOriTokens:
      return "tokens";
    case Axis::kCmpOuter:
      return "pages";
    case Axis::kCmpTokens:
      return "tokens";
    case Axis::kOriColumns:
      return "pages per request";
    case Axis::kCmpColumns:
      return "pages per request";
    case Axis::kK:
      return "K";
    case Axis::kK1:
      return "K1";
    case Axis::kK2:
      return "K2";
    case Axis::kMetadataWords:
      return "words";
  }
  return "?";
}

void AxisTable::Fix(Axis axis, int64_t extent, const char* why) {
  entries_[static_cast<size_t>(axis)] = {true, extent, why, nullptr};
}

int64_t AxisTable::Of(Axis axis) const { return entries_[static_cast<size_t>(axis)].extent; }

Status AxisTable::BindAxis(const OperandArg& operand, size_t position, Axis axis) {
  const int64_t extent = operand.desc.dims[position];
  Entry& entry = entries_[static_cast<size_t>(axis)];
  if (!entry.known) entry = {true, extent, nullptr, operand.name};
  if (entry.extent == extent) return Status::Ok();
  const std::string why = entry.why != nullptr ? entry.why : Str("as in ", entry.operand);
  return Refuse(Str(operand.name, ": axis ", position, " (", AxisName(axis), ") is ", extent,
                    ", must be ", entry.extent, " ", why));
}

Status AxisTable::Bind(const OperandArg& operand, std::initializer_list<Axis> axes) {
  if (operand.desc.rank != static_cast<int64_t>(axes.size())) {
    return Refuse(Str(operand.name, ": rank ", operand.desc.rank, ", must be ", axes.size(), " ",
                      AxesText(axes)));
  }
  size_t position = 0;
  std::optional<int64_t> elements = 1;
  for (const Axis axis : axes) {
    const int64_t extent = operand.desc.dims[position];
    if (extent < 0 || extent > kMostAlongAxis) {
      return Refuse(Str(operand.name, ": axis ", position, " (", AxisName(axis), ") is ", extent,
                        ", must be in [0, ", kMostAlongAxis, "]"));
    }
    elements = CheckedMul(*elements, extent);
    if (!elements) {
      return Refuse(Str(operand.name, ": extents ",
                        ListText(std::span(operand.desc.dims).first(axes.size())),
                        " multiply to more than 2^63 elements"));
    }
    SFMLA_RETURN_IF_ERROR(BindAxis(operand, position, axis));
    ++position;
  }
  return Status::Ok();
}

Status Refuse(std::string text) { return Status(code::kAclnnParamInvalid, std::move(text)); }

Status CheckLive(const OperandArg& operand) {
  if (operand.handle == nullptr || operand.live) return Status::Ok();
  return Refuse(Str(operand.name,
                    ": the handle is no live aclTensor (destroyed, or not made by "
                    "aclCreateTensor)"));
}

Status CheckFormat(const OperandArg& operand) {
  // The plain formats name axes only; the private ones change where elements lie.
  constexpr aclFormat kPlain[] = {ACL_FORMAT_UNDEFINED, ACL_FORMAT_ND,   ACL_FORMAT_NCHW,
                                  ACL_FORMAT_NHWC,      ACL_FORMAT_HWCN, ACL_FORMAT_NDHWC,
                                  ACL_FORMAT_NCDHW,     ACL_FORMAT_NC,   ACL_FORMAT_NCL};
  if (std::find(std::begin(kPlain), std::end(kPlain), operand.desc.format) != std::end(kPlain)) {
    return Status::Ok();
  }
  return Refuse(Str(operand.name, ": format ", static_cast<int>(operand.desc.format),
                    ", must be ACL_FORMAT_ND (2)"));
}

Status CheckDtype(const OperandArg& operand, aclDataType dtype, const char* why) {
  if (operand.desc.dtype == dtype) return Status::Ok();
  return Refuse(Str(operand.name, ": dtype ", DataTypeName(operand.desc.dtype), ", must be ",
                    DataTypeName(dtype), why));
}

bool IsContiguous(const TensorDesc& desc) { return !FirstGap(desc).has_value(); }

Status CheckContiguous(const OperandArg& operand) {
  const std::optional<Gap> gap = FirstGap(operand.desc);
  if (!gap) return Status::Ok();
  return Refuse(Str(operand.name, ": stride of axis ", gap->axis, " is ",
                    operand.desc.strides[gap->axis], ", must be ", gap->contiguous_stride,
                    " (an output is contiguous)"));
}

Status CheckData(const OperandArg& operand) {
  const Result<ViewBytes> covered = CoveredBytes(operand.desc);
  if (!covered.ok()) return Refuse(Str(operand.name, ": ", covered.status().text()));
  return CheckViewMemory(MemoryReader(), operand.name, operand.desc.data, covered.value(),
                         code::kAclnnParamInvalid);
}

}  // namespace sfmla
