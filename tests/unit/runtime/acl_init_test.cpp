// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/init_config.h"
#include "runtime_fixture.h"

namespace sfmla::test {

TEST_CASE("aclInit is counted, aclFinalize ends all of it") {
  CHECK(RunInChild("child: init and finalize", "SFMLA_CHECK=on") == 0);
}

TEST_CASE("child: init and finalize" * doctest::skip()) {
  CHECK(aclFinalize() == ACL_SUCCESS);
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  CheckRefusal(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE, {"repeated initialisation", "aclInit"});
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  CheckRefusal(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE, {"finalize"});
  uint64_t left = 9;
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  CHECK(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  CHECK(aclFinalizeReference(&left) == ACL_SUCCESS);
  CHECK(left == 1);
  CHECK(aclFinalizeReference(nullptr) == ACL_SUCCESS);
  CHECK(aclFinalizeReference(&left) == ACL_ERROR_REPEAT_FINALIZE);
}

TEST_CASE("a wrong environment variable is named by the first calls") {
  CHECK(RunInChild("child: bad environment", "SFMLA_NUM_THREADS=many") == 0);
}

TEST_CASE("child: bad environment" * doctest::skip()) {
  aclrtContext context = nullptr;
  CheckRefusal(aclInit(nullptr), ACL_ERROR_INVALID_PARAM, {"SFMLA_NUM_THREADS", "many"});
  CheckRefusal(aclrtSetDevice(0), ACL_ERROR_INVALID_PARAM, {"SFMLA_NUM_THREADS", "many"});
  CheckRefusal(aclrtCreateContext(&context, 0), ACL_ERROR_INVALID_PARAM, {"SFMLA_NUM_THREADS"});
}

TEST_CASE("a configuration may name the default device and share the error text") {
  CHECK(RunInChild("child: configured", "SFMLA_CHECK=on") == 0);
}

TEST_CASE("child: configured" * doctest::skip()) {
  char path[] = "/tmp/sfmla_init_test_XXXXXX";
  REQUIRE(mkstemp(path) >= 0);
  std::ofstream(path) << R"({"defaultDevice": {"default_device": "0"}, "err_msg_mode": "1"})";
  CHECK(aclInit(path) == ACL_SUCCESS);
  CheckRefusal(aclInit(nullptr), ACL_ERROR_INVALID_PARAM, {"configPath"});
  std::remove(path);
  void* memory = nullptr;
  CHECK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
  std::thread([] { CHECK(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM); }).join();
  CHECK(TakeText().find("devPtr") != std::string::npos);
}

TEST_CASE("a configuration file must be readable JSON with values that mean something") {
  for (const char* path : {"/no/such/file.json", "/", "/proc/self/mem"}) {
    CheckRefusal(aclInit(path), ACL_ERROR_INVALID_FILE, {path, "cannot be read"});
  }
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "{} {}", "nonsense", "{\"a\" 1}", "1abc",
                           "-", "-..", "01", "1.", ".5", "1e", "1e+", "+1", "1.5.2", "0x1", "-a"}) {
    INFO(text);
    CHECK(ParseInitConfig(text).status().code() == ACL_ERROR_PARSE_FILE);
  }
  const auto far = ParseInitConfig(R"({"defaultDevice": {"default_device": "7"}})");
  CHECK(far.status().code() == ACL_ERROR_INVALID_PARAM);
  CHECK(far.status().text().find("'7'") != std::string::npos);
  const auto flat = ParseInitConfig(R"({"defaultDevice": "7"})");
  CHECK(flat.status().text() == "defaultDevice: '7', must be an object that has default_device");
  CHECK(ParseInitConfig(R"({"err_msg_mode": 2})").status().code() == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("other keys of a configuration are left alone") {
  const auto config = ParseInitConfig(
      R"( {"dump": {"list": [1, -2.5e3, 10E+2, {"deep": [true, null]}], "s": "a\"b"}, "n": -0.5} )");
  REQUIRE(config.ok());
  CHECK(config.value() == InitConfig());
}

TEST_CASE("nesting without end is refused, not followed") {
  CHECK(ParseInitConfig(std::string(100000, '[')).status().code() == ACL_ERROR_PARSE_FILE);
}

}  // namespace sfmla::test
