// SPDX-License-Identifier: Apache-2.0
#include "runtime/view_memory.h"

#include <optional>
#include <span>

#include "acl/acl_base.h"
#include "base/checked_math.h"
#include "base/format.h"

namespace sfmla {
namespace {

Status TooLarge(const TensorDesc& desc) {
  const auto rank = static_cast<size_t>(desc.rank);
  return Status(
      ACL_ERROR_RT_AICORE_EXCEPTION,
      Str("offset ", desc.offset, ", extents ", ListText(std::span(desc.dims).first(rank)),
          " and strides ", ListText(std::span(desc.strides).first(rank)),
          " reach beyond 64-bit addresses"));
}

}  // namespace

Result<ViewBytes> CoveredBytes(const TensorDesc& desc) {
  const int64_t element_bytes = DataTypeBytes(desc.dtype);
  if (desc.rank > kMaxOperandRank || element_bytes == 0) {
    return Status(ACL_ERROR_RT_AICORE_EXCEPTION, "the view has too many axes or no whole bytes");
  }
  const std::optional<int64_t> start = CheckedMul(desc.offset, element_bytes);
  if (!start) return TooLarge(desc);
  if (desc.num_elements() == 0) return ViewBytes{*start, *start, *start, element_bytes};
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
  if (!begin || !end) return TooLarge(desc);
  return ViewBytes{*begin, *end, *start, element_bytes};
}

Status CheckViewMemory(const MemoryReader& memory, const char* name, const void* data,
                       const ViewBytes& view, int32_t code) {
  if (data == nullptr || view.begin == view.end) return Status::Ok();
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(view.element_bytes) != 0) {
    return Status(code, Str(name, ": data address ", data, ", must be a multiple of ",
                            view.element_bytes, ", the size of an element"));
  }
  const char* first = static_cast<const char*>(data) + view.begin;
  return memory.CheckAccessible(name, first, static_cast<uint64_t>(view.end - view.begin), code);
}

}  // namespace sfmla
