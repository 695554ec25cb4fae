// SPDX-License-Identifier: Apache-2.0
// An operand as the caller gave it, and the checks every operand goes through.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/status.h"
#include "runtime/tensor.h"

namespace sfmla {

struct OperandArg {
  const char* name = "";
  const aclTensor* handle = nullptr;
  bool live = false;  // handle is a tensor that exists
  TensorDesc desc;    // meaningful when live

  // NULL and, for optional operands, zero elements both mean absent.
  bool absent() const { return handle == nullptr || (live && desc.num_elements() == 0); }
  bool present() const { return !absent(); }
};

OperandArg MakeOperand(const char* name, const aclTensor* handle);

// The operands of an operator, by slot.
template <size_t count>
std::array<OperandArg, count> MakeOperands(const char* const (&names)[count],
                                           const aclTensor* const (&handles)[count]) {
  std::array<OperandArg, count> out;
  for (size_t slot = 0; slot < count; ++slot) out[slot] = MakeOperand(names[slot], handles[slot]);
  return out;
}

// Axes of the tensors of this family; one spelling each, see docs/glossary.md.
enum class Axis : uint8_t {
  kB,
  kBPlus1,
  kS1,
  kT1,
  kN1,
  kN2,
  kG,
  kD,
  kRopeD,
  kOriOuter,
  kOriTokens,
  kCmpOuter,
  kCmpTokens,  // pages or S/T of the two caches
  kOriColumns,
  kCmpColumns,  // columns of the block tables
  kK,
  kK1,
  kK2,
  kMetadataWords,
};
inline constexpr size_t kAxisCount = static_cast<size_t>(Axis::kMetadataWords) + 1;

const char* AxisName(Axis axis);

// The extents of named axes, each fixed by a constant or by the first operand that has it.
class AxisTable {
 public:
  // `why` is kept as it is: a literal.
  void Fix(Axis axis, int64_t extent, const char* why);

  // Checks rank and extents of `operand` against `axes`; axes not seen before take its extents.
  Status Bind(const OperandArg& operand, std::initializer_list<Axis> axes);

  // 0 for an axis no operand has.
  int64_t Of(Axis axis) const;

 private:
  // What fixed an extent: a constant with its reason, or the operand that had the axis first.
  struct Entry {
    bool known = false;
    int64_t extent = 0;
    const char* why = nullptr;
    const char* operand = nullptr;
  };
  Status BindAxis(const OperandArg& operand, size_t position, Axis axis);

  std::array<Entry, kAxisCount> entries_{};
};

// 161002 with one sentence each.
Status Refuse(std::string text);
Status CheckLive(const OperandArg& operand);
Status CheckFormat(const OperandArg& operand);
Status CheckDtype(const OperandArg& operand, aclDataType dtype, const char* why);
Status CheckContiguous(const OperandArg& operand);
// The data pointer: element-aligned, and the view inside one live allocation. A NULL pointer
// passes: planning needs no data.
Status CheckData(const OperandArg& operand);

// Whether the view is contiguous; the stride of an axis of extent 1 does not matter.
bool IsContiguous(const TensorDesc& desc);

}  // namespace sfmla
