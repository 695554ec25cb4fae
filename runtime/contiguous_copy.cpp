// SPDX-License-Identifier: Apache-2.0
#include "runtime/contiguous_copy.h"

#include <cstring>
#include <optional>

#include "acl/acl_base.h"
#include "base/checked_math.h"

namespace sfmla {
namespace {

constexpr const char* kTooLarge = "the view does not fit into 64-bit offsets";

// Copies the axes from `axis` on and returns the place behind them. `in` is element 0 of this part.
std::byte* GatherAxis(const TensorDesc& desc, int64_t axis, int64_t element_bytes,
                      const std::byte* in, std::byte* out) {
  if (axis == desc.rank) {
    std::memcpy(out, in, static_cast<size_t>(element_bytes));
    return out + element_bytes;
  }
  const int64_t extent = desc.dims[static_cast<size_t>(axis)];
  const int64_t stride = desc.strides[static_cast<size_t>(axis)];
  if (axis + 1 == desc.rank && stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(extent * element_bytes));
    return out + extent * element_bytes;
  }
  for (int64_t i = 0; i < extent; ++i) {
    out = GatherAxis(desc, axis + 1, element_bytes, in + i * stride * element_bytes, out);
  }
  return out;
}

}  // namespace

Result<ByteRange> CoveredBytes(const TensorDesc& desc) {
  const int64_t element_bytes = DataTypeBytes(desc.dtype);
  if (desc.rank > kMaxOperandRank || element_bytes == 0) {
    return Status(ACL_ERROR_RT_AICORE_EXCEPTION, "the view has too many axes or no whole bytes");
  }
  if (desc.num_elements() == 0) return ByteRange();
  std::optional<int64_t> first = desc.offset;
  std::optional<int64_t> last = desc.offset;
  for (size_t axis = 0; axis < static_cast<size_t>(desc.rank); ++axis) {
    const std::optional<int64_t> step = CheckedMul(desc.dims[axis] - 1, desc.strides[axis]);
    std::optional<int64_t>& moved = step.value_or(0) < 0 ? first : last;
    moved = step && moved ? CheckedAdd(*moved, *step) : std::nullopt;
  }
  if (last) last = CheckedAdd(*last, 1);
  const auto begin = first ? CheckedMul(*first, element_bytes) : std::nullopt;
  const auto end = last ? CheckedMul(*last, element_bytes) : std::nullopt;
  if (!begin || !end) return Status(ACL_ERROR_RT_AICORE_EXCEPTION, kTooLarge);
  return ByteRange{*begin, *end};
}

void GatherContiguous(const TensorDesc& desc, std::byte* out) {
  if (desc.num_elements() == 0) return;
  const int64_t element_bytes = DataTypeBytes(desc.dtype);
  const auto* first = static_cast<const std::byte*>(desc.data) + desc.offset * element_bytes;
  GatherAxis(desc, 0, element_bytes, first, out);
}

}  // namespace sfmla
