// SPDX-License-Identifier: Apache-2.0
#include "runtime/view_memory.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "runtime_fixture.h"
#include "view_case.h"

namespace sfmla::test {

TEST_CASE("the covered bytes reach from the lowest to behind the highest element") {
  const auto covered = [](const TensorDesc& desc) {
    const Result<ViewBytes> range = CoveredBytes(desc);
    REQUIRE(range.ok());
    return std::pair(range.value().begin, range.value().end);
  };
  CHECK(covered(View({2, 3}, {100, 1}, 5)) == std::pair<int64_t, int64_t>(20, 432));
  CHECK(covered(View({3}, {-2}, 9)) == std::pair<int64_t, int64_t>(20, 40));
  CHECK(covered(View({1, 3}, {1'000'000, 1}, 0)) == std::pair<int64_t, int64_t>(0, 12));
  CHECK(covered(View({0, 3}, {1, 1}, 7)) == std::pair<int64_t, int64_t>(28, 28));
  CHECK(covered(View({}, {}, 2)) == std::pair<int64_t, int64_t>(8, 12));
}

TEST_CASE("element 0 lies where the offset says, whatever the strides") {
  CHECK(CoveredBytes(View({3}, {-2}, 9)).value().first == 36);
  CHECK(CoveredBytes(View({2, 3}, {100, 1}, 5)).value().first == 20);
}

TEST_CASE("ranges beyond 64 bits and types without bytes are errors") {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  CHECK_FALSE(CoveredBytes(View({3, 3}, {kHuge, 1}, 0)).ok());
  CHECK_FALSE(CoveredBytes(View({3}, {1}, kHuge)).ok());
  TensorDesc packed = View({3}, {1}, 0);
  packed.dtype = ACL_INT4;
  CHECK_FALSE(CoveredBytes(packed).ok());
}

TEST_CASE_FIXTURE(OnDevice, "a view must be aligned to its elements and stay in its allocation") {
  void* memory = nullptr;
  REQUIRE(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto check = [](void* data, std::vector<int64_t> dims) {
    const Result<ViewBytes> covered = CoveredBytes(View(std::move(dims), {1}, 0));
    return CheckViewMemory(MemoryReader(), "q", data, covered.value(),
                           ACL_ERROR_RT_AICORE_EXCEPTION);
  };
  auto* bytes = static_cast<char*>(memory);
  CHECK(check(bytes, {16}).ok());
  CHECK(check(nullptr, {16}).ok());
  CHECK(check(bytes + 1, {0}).ok());
  const Status misaligned = check(bytes + 2, {4});
  CHECK(misaligned.code() == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(misaligned.text().find("q: data address") == 0);
  CHECK(misaligned.text().find("multiple of 4") != std::string::npos);
  const Status outside = check(bytes, {1000});
  CHECK(outside.code() == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(outside.text().find("q: 4000 bytes") == 0);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

}  // namespace sfmla::test
