// SPDX-License-Identifier: Apache-2.0
// SFMLA_CHECK is read once per process, so each case runs in a child of its own.
#include "runtime/strict_memory.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

constexpr size_t kBytes = 100;

unsigned char* Malloc() {
  void* memory = nullptr;
  REQUIRE(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  return static_cast<unsigned char*>(memory);
}

}  // namespace

TEST_CASE("strict: the host cannot touch device memory") {
  CHECK(RunInChild("child: strict touch", "SFMLA_CHECK=strict") == 128 + SIGSEGV);
  CHECK(RunInChild("child: strict touch", "SFMLA_CHECK=on") == 0);
}

TEST_CASE("child: strict touch" * doctest::skip()) {
  std::signal(SIGSEGV, SIG_DFL);
  OnDevice device;
  unsigned char* memory = Malloc();
  memory[0] = 1;
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

TEST_CASE("strict: copies, fills and work reach it, from several threads") {
  CHECK(RunInChild("child: strict use", "SFMLA_CHECK=strict") == 0);
}

TEST_CASE("child: strict use" * doctest::skip()) {
  OnDevice device;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
      OwnedStream stream;
      for (int round = 0; round < 50; ++round) {
        unsigned char host[kBytes] = {};
        unsigned char* memory = Malloc();
        CHECK(aclrtMemcpy(host, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST) == 0);
        CHECK(host[kBytes - 1] == 0xFF);  // poison
        CHECK(aclrtMemsetAsync(memory, kBytes, number, kBytes, stream.handle) == ACL_SUCCESS);
        CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
        CHECK(aclrtMemcpyAsync(host, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                               stream.handle) == ACL_SUCCESS);
        CHECK(host[0] == number);
        CHECK(aclrtFree(memory) == ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < threads.size(); ++i) CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

TEST_CASE("strict: written red zones are noticed once") {
  CHECK(RunInChild("child: strict red zones", "SFMLA_CHECK=strict") == 0);
}

TEST_CASE("child: strict red zones" * doctest::skip()) {
  OnDevice device;
  unsigned char* memory = Malloc();
  {
    const DeviceAccess access;
    // Rounded up to 32 bytes and 32 more may be touched.
    std::memset(memory, 1, 128 + 32);
    CHECK(CheckRedZones("out", memory).ok());
    memory[128 + 32] = 1;
    const Status behind = CheckRedZones("out", memory);
    CHECK(behind.code() == ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK(behind.text().find("out: memory behind the allocation of 100 bytes") == 0);
    CHECK(CheckRedZones("out", memory).ok());
    memory[-1] = 1;
    CHECK(CheckRedZones("out", memory).text().find("before") != std::string::npos);
  }
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "work that is queued is known by what it may write") {
  OwnedStream handle;
  Gate gate;
  gate.Block(handle.handle);
  const std::shared_ptr<Stream> stream = Streams().Find(handle.handle);
  Task task;
  task.name = "aclnnThing";
  task.run = [] { return Status::Ok(); };
  task.writes = {{1000, 10}, {2000, 10}};
  REQUIRE(stream->Submit(std::move(task)).ok());
  CHECK(stream->PendingWriter({2009, 1}) == "aclnnThing");
  CHECK(stream->PendingWriter({1990, 11}) == "aclnnThing");
  CHECK(stream->PendingWriter({1010, 990}) == "");
  gate.Open();
  CHECK(aclrtSynchronizeStream(handle.handle) == ACL_SUCCESS);
  CHECK(stream->PendingWriter({1000, 1}) == "");
}

}  // namespace sfmla::test
