// SPDX-License-Identifier: Apache-2.0
#include "runtime/contiguous_copy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace sfmla {
namespace {

TensorDesc View(std::vector<int64_t> dims, std::vector<int64_t> strides, int64_t offset) {
  TensorDesc desc;
  desc.rank = static_cast<int64_t>(dims.size());
  std::copy(dims.begin(), dims.end(), desc.dims.begin());
  std::copy(strides.begin(), strides.end(), desc.strides.begin());
  desc.offset = offset;
  desc.dtype = ACL_INT32;
  return desc;
}

std::vector<int32_t> Gather(TensorDesc desc) {
  std::vector<int32_t> buffer(1000);
  std::iota(buffer.begin(), buffer.end(), 0);
  desc.data = buffer.data();
  std::vector<int32_t> out(static_cast<size_t>(desc.num_elements()), -1);
  GatherContiguous(desc, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

}  // namespace

TEST_CASE("elements are gathered in row-major order") {
  CHECK(Gather(View({2, 3}, {100, 1}, 5)) == std::vector<int32_t>{5, 6, 7, 105, 106, 107});
  CHECK(Gather(View({2, 3}, {1, 10}, 0)) == std::vector<int32_t>{0, 10, 20, 1, 11, 21});
  CHECK(Gather(View({3}, {0}, 9)) == std::vector<int32_t>{9, 9, 9});
  CHECK(Gather(View({3}, {-2}, 9)) == std::vector<int32_t>{9, 7, 5});
  CHECK(Gather(View({}, {}, 4)) == std::vector<int32_t>{4});
  CHECK(Gather(View({2, 0}, {1, 1}, 4)).empty());
}

TEST_CASE("the covered bytes reach from the lowest to behind the highest element") {
  const auto covered = [](const TensorDesc& desc) {
    const Result<ByteRange> range = CoveredBytes(desc);
    REQUIRE(range.ok());
    return std::pair(range.value().begin, range.value().end);
  };
  CHECK(covered(View({2, 3}, {100, 1}, 5)) == std::pair<int64_t, int64_t>(20, 432));
  CHECK(covered(View({3}, {-2}, 9)) == std::pair<int64_t, int64_t>(20, 40));
  CHECK(covered(View({1, 3}, {1'000'000, 1}, 0)) == std::pair<int64_t, int64_t>(0, 12));
  CHECK(covered(View({0, 3}, {1, 1}, 7)) == std::pair<int64_t, int64_t>(0, 0));
  CHECK(covered(View({}, {}, 2)) == std::pair<int64_t, int64_t>(8, 12));
}

TEST_CASE("ranges beyond 64 bits and types without bytes are errors") {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  CHECK_FALSE(CoveredBytes(View({3, 3}, {kHuge, 1}, 0)).ok());
  CHECK_FALSE(CoveredBytes(View({3}, {1}, kHuge)).ok());
  TensorDesc packed = View({3}, {1}, 0);
  packed.dtype = ACL_INT4;
  CHECK_FALSE(CoveredBytes(packed).ok());
}

}  // namespace sfmla
