// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

// What `body` writes to standard error.
template <typename Body>
std::string ErrorOutput(const Body& body) {
  char path[] = "/tmp/sfmla_log_test_XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  dup2(file, STDERR_FILENO);
  body();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(file);
  std::ifstream text(path);
  const std::string out{std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()};
  std::remove(path);
  return out;
}

void FinalizeWithAStream() {
  aclrtStream stream = nullptr;
  REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  REQUIRE(aclFinalize() == ACL_SUCCESS);
}

}  // namespace

TEST_CASE("the log is silent unless asked for") {
  CHECK(RunInChild("child: silent log", "ASCEND_GLOBAL_LOG_LEVEL=3") == 0);
  CHECK(RunInChild("child: log", "ASCEND_GLOBAL_LOG_LEVEL=2") == 0);
}

TEST_CASE("child: silent log" * doctest::skip()) { CHECK(ErrorOutput(FinalizeWithAStream) == ""); }

TEST_CASE("child: log" * doctest::skip()) {
  const std::string alive = ErrorOutput(FinalizeWithAStream);
  CHECK(alive.find("[WARNING] SFMLA(") == 0);
  CHECK(alive.find("aclFinalize: streams 1\n") != std::string::npos);
  const std::string line = ErrorOutput([] {
    ACL_APP_LOG(ACL_INFO, "not shown");
    ACL_APP_LOG(ACL_ERROR, "value %d of %s", 7, "thing");
    aclAppLog(ACL_ERROR, nullptr, nullptr, 3, nullptr);
  });
  CHECK(line.find("[ERROR] SFMLA(") == 0);
  CHECK(line.find("log_test.cpp") != std::string::npos);
  CHECK(line.find("value 7 of thing\n") == line.size() - 17);
}

}  // namespace sfmla::test
