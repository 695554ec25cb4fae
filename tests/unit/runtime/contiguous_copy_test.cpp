// SPDX-License-Identifier: Apache-2.0
#include "runtime/contiguous_copy.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "view_case.h"

namespace sfmla::test {
namespace {

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

}  // namespace sfmla::test
