// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_overlap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "base/checked_math.h"
#include "base/format.h"
#include "runtime/view_memory.h"

namespace sfmla {
namespace {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// None if it would end where no memory can be.
std::optional<ByteRange> RangeOf(const TensorDesc& desc) {
  const ViewBytes covered = CoveredBytes(desc).value();
  const auto address = reinterpret_cast<uintptr_t>(desc.data);
  if (address > static_cast<uintptr_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  const auto begin = CheckedAdd(static_cast<int64_t>(address), covered.begin);
  const auto end = CheckedAdd(static_cast<int64_t>(address), covered.end);
  if (!begin || !end) return std::nullopt;
  return ByteRange{*begin, *end};
}

struct Steps {
  int64_t stride = 0;  // bytes, positive
  int64_t count = 0;   // at least 2

  bool operator>(const Steps& other) const { return stride > other.stride; }
};

// Whether one of the elements that begin at `begin` plus steps along the axes, longest stride
// first, lies in `range`. `end`: of the last element.
bool Meets(int64_t begin, int64_t end, std::span<const Steps> axes, const ByteRange& range) {
  if (end <= range.begin || range.end <= begin) return false;
  if (axes.empty()) return true;
  const auto [stride, count] = axes.front();
  const int64_t inner_bytes = end - begin - (count - 1) * stride;
  if (inner_bytes > stride) return true;
  // `first` may be one block too early. Of three blocks that the range does reach, the middle one
  // lies inside it.
  const int64_t first = std::max<int64_t>((range.begin - begin - inner_bytes) / stride, 0);
  const int64_t last = std::min((range.end - 1 - begin) / stride, count - 1);
  if (last - first > 2) return true;
  for (int64_t i = first; i <= last; ++i) {
    const int64_t block = begin + i * stride;
    if (Meets(block, block + inner_bytes, axes.subspan(1), range)) return true;
  }
  return false;
}

}  // namespace

bool SharesMemory(const TensorDesc& contiguous, const TensorDesc& view) {
  const bool both = contiguous.data != nullptr && view.data != nullptr;
  if (!both || contiguous.num_elements() == 0 || view.num_elements() == 0) return false;
  const std::optional<ByteRange> range = RangeOf(contiguous);
  const std::optional<ByteRange> covered = RangeOf(view);
  if (!range || !covered) return false;
  std::array<Steps, kMaxOperandRank> axes{};
  size_t count = 0;
  for (size_t axis = 0; axis < static_cast<size_t>(view.rank); ++axis) {
    const int64_t stride = std::abs(view.strides[axis]) * DataTypeBytes(view.dtype);
    if (view.dims[axis] > 1 && stride > 0) axes[count++] = {stride, view.dims[axis]};
  }
  std::sort(axes.begin(), axes.end(), std::greater<>());
  return Meets(covered->begin, covered->end, std::span(axes).first(count), *range);
}

std::string SharedMemoryText(const char* written, const char* other) {
  return Str(written, ": shares memory with ", other, ", must have memory of its own");
}

}  // namespace sfmla
