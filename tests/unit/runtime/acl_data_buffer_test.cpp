// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "runtime_fixture.h"

namespace sfmla::test {

TEST_CASE("a data buffer is an address and a size") {
  int first = 0;
  int second = 0;
  aclDataBuffer* buffer = aclCreateDataBuffer(&first, size_t{5} << 32);
  REQUIRE(buffer != nullptr);
  CHECK(aclGetDataBufferAddr(buffer) == &first);
  CHECK(aclGetDataBufferSizeV2(buffer) == size_t{5} << 32);
  CHECK(aclUpdateDataBuffer(buffer, &second, 7) == ACL_SUCCESS);
  CHECK(aclGetDataBufferAddr(buffer) == &second);
  CHECK(aclGetDataBufferSize(buffer) == 7);
  CHECK(aclDestroyDataBuffer(buffer) == ACL_SUCCESS);
  CheckRefusal(aclDestroyDataBuffer(buffer), ACL_ERROR_INVALID_PARAM, {"dataBuffer", "destroyed"});
  CheckRefusal(aclUpdateDataBuffer(nullptr, &first, 1), ACL_ERROR_INVALID_PARAM, {"dataBuffer"});
  CHECK(aclGetDataBufferAddr(nullptr) == nullptr);
  CHECK(TakeText().find("dataBuffer") != std::string::npos);
}

}  // namespace sfmla::test
