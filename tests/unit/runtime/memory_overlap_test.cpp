// SPDX-License-Identifier: Apache-2.0
// Expected values: every element of both views, one by one.
#include "runtime/memory_overlap.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace sfmla {
namespace {

TensorDesc At(int64_t address, aclDataType dtype, std::initializer_list<int64_t> dims,
              std::initializer_list<int64_t> strides, int64_t offset = 0) {
  TensorDesc out;
  out.dtype = dtype;
  for (const int64_t dim : dims) out.dims[static_cast<size_t>(out.rank++)] = dim;
  size_t axis = 0;
  for (const int64_t stride : strides) out.strides[axis++] = stride;
  out.offset = offset;
  out.data = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  return out;
}

std::set<int64_t> BytesOf(const TensorDesc& desc) {
  std::vector<int64_t> elements = {desc.offset};
  for (size_t axis = 0; axis < static_cast<size_t>(desc.rank); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t element : elements) {
      for (int64_t i = 0; i < desc.dims[axis]; ++i)
        next.push_back(element + i * desc.strides[axis]);
    }
    elements = next;
  }
  std::set<int64_t> out;
  const int64_t width = DataTypeBytes(desc.dtype);
  for (const int64_t element : elements) {
    for (int64_t byte = 0; byte < width; ++byte) {
      out.insert(static_cast<int64_t>(reinterpret_cast<uintptr_t>(desc.data)) + element * width +
                 byte);
    }
  }
  return out;
}

TEST_CASE("memory overlap: places between the rows of a view are free") {
  const TensorDesc rows = At(1000, ACL_BF16, {3, 4}, {10, 1});
  CHECK(SharesMemory(At(1000, ACL_FLOAT, {2}, {1}), rows));
  CHECK(SharesMemory(At(1024, ACL_FLOAT, {1}, {1}), rows));
  CHECK_FALSE(SharesMemory(At(1008, ACL_FLOAT, {3}, {1}), rows));
  CHECK(SharesMemory(At(1008, ACL_FLOAT, {4}, {1}), rows));
  CHECK_FALSE(SharesMemory(At(1048, ACL_FLOAT, {4}, {1}), rows));
  CHECK(SharesMemory(At(900, ACL_FLOAT, {1000}, {1}), rows));
}

TEST_CASE("memory overlap: planning, and tensors without elements") {
  const TensorDesc some = At(1000, ACL_FLOAT, {4}, {1});
  CHECK_FALSE(SharesMemory(At(0, ACL_FLOAT, {4}, {1}), some));
  CHECK_FALSE(SharesMemory(some, At(0, ACL_FLOAT, {4}, {1})));
  CHECK_FALSE(SharesMemory(At(1000, ACL_FLOAT, {0}, {1}), some));
  const TensorDesc nowhere = At(std::numeric_limits<int64_t>::max() - 3, ACL_FLOAT, {4}, {1});
  CHECK_FALSE(SharesMemory(nowhere, nowhere));
  CHECK_FALSE(SharesMemory(At(-16, ACL_FLOAT, {4}, {1}), At(-16, ACL_FLOAT, {4}, {1})));
}

TEST_CASE("memory overlap: random views against their elements") {
  std::mt19937 random(1);
  const auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
  int shared = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t inner = 1 + pick(3);
    const int64_t middle = inner + pick(4);
    const int64_t outer = middle * 3 + pick(20);
    TensorDesc view =
        At(10000 + 2 * pick(300), ACL_BF16, {1 + pick(3), 1 + pick(2), inner}, {outer, middle, 1});
    if (pick(3) == 0) {  // the rows in falling order
      view.strides[0] = -outer;
      view.offset = outer * 3;
    }
    if (pick(3) == 0) std::swap(view.strides[0], view.strides[1]);
    if (view.strides[0] == middle) view.dims[0] = std::min<int64_t>(view.dims[0], 3);
    const TensorDesc output = At(10000 + 4 * pick(150), ACL_FLOAT, {1 + pick(12)}, {1});
    const std::set<int64_t> bytes = BytesOf(view);
    bool expected = false;
    for (const int64_t byte : BytesOf(output)) expected = expected || bytes.count(byte) > 0;
    CAPTURE(i);
    REQUIRE(SharesMemory(output, view) == expected);
    shared += expected ? 1 : 0;
  }
  CHECK(shared > 2000);
  CHECK(shared < 18000);
}

}  // namespace
}  // namespace sfmla
