// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/stream.h"
#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

// Queues a task that fails, as an operator would.
void Fail(aclrtStream stream, int32_t code, const char* text) {
  const std::shared_ptr<Stream> found = Streams().Find(stream);
  REQUIRE(found != nullptr);
  REQUIRE(found->Submit({Task::Kind::kWork, [=] { return Status(code, text); }}).ok());
}

void AddOne(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

struct Sequence {
  std::vector<int> numbers;
  struct Entry {
    Sequence* sequence;
    int number;
  };
  static void Append(void* entry) {
    auto* given = static_cast<Entry*>(entry);
    given->sequence->numbers.push_back(given->number);
  }
};

}  // namespace

TEST_CASE_FIXTURE(OnDevice, "work runs in the order in which it was queued") {
  OwnedStream stream;
  Sequence sequence;
  std::vector<Sequence::Entry> entries;
  for (int i = 0; i < 200; ++i) entries.push_back({&sequence, i});
  for (auto& entry : entries) {
    CHECK(aclrtLaunchHostFunc(stream.handle, &Sequence::Append, &entry) == ACL_SUCCESS);
  }
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  REQUIRE(sequence.numbers.size() == entries.size());
  for (int i = 0; i < 200; ++i) CHECK(sequence.numbers[static_cast<size_t>(i)] == i);
}

TEST_CASE_FIXTURE(OnDevice, "queueing does not wait, and streams do not wait for each other") {
  OwnedStream held;
  OwnedStream free_stream;
  Gate gate;
  std::atomic<int> count{0};
  gate.Block(held.handle);
  CHECK(aclrtLaunchHostFunc(held.handle, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(free_stream.handle, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(nullptr, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(free_stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(count == 2);
  gate.Open();
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(count == 3);
}

TEST_CASE_FIXTURE(OnDevice, "an error is kept until one synchronisation reported it") {
  OwnedStream stream;
  Fail(stream.handle, ACL_ERROR_RT_AICPU_EXCEPTION, "aclnnThing: metadata: does not fit");
  Fail(stream.handle, ACL_ERROR_RT_AICORE_EXCEPTION, "aclnnThing: the second one");
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICPU_EXCEPTION,
               {"aclnnThing: metadata: does not fit", "aclrtSynchronizeStream"});
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a device synchronisation reports the errors of all its streams") {
  OwnedStream first;
  OwnedStream second;
  Fail(second.handle, ACL_ERROR_RT_AICPU_EXCEPTION, "from the second");
  Fail(first.handle, ACL_ERROR_RT_AICORE_EXCEPTION, "from the first");
  CheckRefusal(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"from the first", "from the second"});
  CHECK(aclrtSynchronizeStream(first.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(second.handle) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a query and an event do not take the error away") {
  OwnedStream stream;
  OwnedEvent event;
  Fail(stream.handle, ACL_ERROR_RT_AICORE_EXCEPTION, "kept");
  CHECK(aclrtRecordEvent(event.handle, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  CHECK(aclrtStreamQuery(stream.handle, &status) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICORE_EXCEPTION, {"kept"});
}

TEST_CASE_FIXTURE(OnDevice, "after an error the rest runs, or is skipped in stop mode") {
  OwnedStream stream;
  std::atomic<int> count{0};
  Fail(stream.handle, ACL_ERROR_RT_AICORE_EXCEPTION, "first");
  CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(count == 1);
  CHECK(aclrtSetStreamFailureMode(stream.handle, ACL_STOP_ON_FAILURE) == ACL_SUCCESS);
  OwnedEvent event;
  Fail(stream.handle, ACL_ERROR_RT_AICORE_EXCEPTION, "second");
  CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(count == 1);
  CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(count == 2);
  TakeText();
  CheckRefusal(aclrtSetStreamFailureMode(stream.handle, 7), ACL_ERROR_RT_PARAM_INVALID, {"mode"});
}

TEST_CASE_FIXTURE(OnDevice, "work that throws is an error of the stream, the process lives") {
  OwnedStream stream;
  const std::shared_ptr<Stream> found = Streams().Find(stream.handle);
  REQUIRE(
      found->Submit({Task::Kind::kWork, []() -> Status { throw std::runtime_error("unforeseen"); }})
          .ok());
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICPU_EXCEPTION, {"unforeseen"});
}

TEST_CASE_FIXTURE(OnDevice, "a wait with a timeout gives up, the work goes on") {
  OwnedStream stream;
  Gate gate;
  gate.Block(stream.handle);
  CheckRefusal(aclrtSynchronizeStreamWithTimeout(stream.handle, 10),
               ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {"timeout"});
  CheckRefusal(aclrtSynchronizeDeviceWithTimeout(10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
               {"timeout"});
  for (const int timeout : {0, -2}) {
    CheckRefusal(aclrtSynchronizeStreamWithTimeout(stream.handle, timeout),
                 ACL_ERROR_RT_PARAM_INVALID, {"timeout"});
    CheckRefusal(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_ERROR_RT_PARAM_INVALID,
                 {"timeout"});
  }
  gate.Open();
  CHECK(aclrtSynchronizeStreamWithTimeout(stream.handle, -1) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream.handle, 1000) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "destroying waits for the work, by force it drops what has not begun") {
  std::atomic<int> count{0};
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH) == ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) CHECK(aclrtLaunchHostFunc(stream, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(count == 20);
  Gate gate;
  OwnedEvent event;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  gate.Block(stream);
  CHECK(aclrtLaunchHostFunc(stream, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyStreamForce(stream) == ACL_SUCCESS);
  gate.Open();
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  CHECK(count == 20);
}

TEST_CASE_FIXTURE(OnDevice, "handles that are not live streams are refused") {
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  OwnedStream successor;
  OwnedEvent event;
  int local = 0;
  for (const aclrtStream dead : {stream, event.handle, static_cast<aclrtStream>(&local)}) {
    CheckRefusal(aclrtDestroyStream(dead), ACL_ERROR_RT_PARAM_INVALID, {"stream"});
    CheckRefusal(aclrtSynchronizeStream(dead), ACL_ERROR_RT_PARAM_INVALID, {"stream"});
    CheckRefusal(aclrtRecordEvent(event.handle, dead), ACL_ERROR_RT_PARAM_INVALID, {"stream"});
    CheckRefusal(aclrtLaunchHostFunc(dead, &AddOne, &local), ACL_ERROR_RT_PARAM_INVALID,
                 {"stream"});
  }
  CheckRefusal(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM, {"stream"});
  CheckRefusal(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM, {"stream"});
  CheckRefusal(aclrtCreateStreamWithConfig(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID,
               {"priority", "8"});
  CheckRefusal(aclrtCreateStreamWithConfig(&stream, 0, 0x80), ACL_ERROR_RT_PARAM_INVALID, {"flag"});
  CheckRefusal(aclrtLaunchHostFunc(nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM, {"fn"});
}

TEST_CASE_FIXTURE(OnDevice, "the default stream is a stream that cannot be destroyed") {
  aclrtStream stream = nullptr;
  CHECK(aclrtCtxGetCurrentDefaultStream(&stream) == ACL_SUCCESS);
  std::atomic<int> count{0};
  CHECK(aclrtLaunchHostFunc(nullptr, &AddOne, &count) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(count == 1);
  CheckRefusal(aclrtDestroyStream(stream), ACL_ERROR_RT_PARAM_INVALID, {"default stream"});
}

TEST_CASE_FIXTURE(OnDevice, "work that would wait for its own stream is refused") {
  struct Codes {
    aclrtStream stream;
    int synchronize = 0;
    int destroy = 0;
  };
  OwnedStream stream;
  Codes codes{stream.handle};
  const auto call = [](void* given) {
    auto* own = static_cast<Codes*>(given);
    own->synchronize = aclrtSynchronizeStream(own->stream);
    own->destroy = aclrtDestroyStream(own->stream);
  };
  CHECK(aclrtLaunchHostFunc(stream.handle, call, &codes) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(codes.synchronize == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(codes.destroy == ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_CASE("a process ends at once with its own code while work is queued") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(RunInChild("child: exit with queued work", "SFMLA_CHECK=on") == 7);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("child: exit with queued work" * doctest::skip()) {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::seconds(60)); };
  for (int i = 0; i < 3; ++i) REQUIRE(aclrtLaunchHostFunc(stream, sleep, nullptr) == ACL_SUCCESS);
  void* memory = nullptr;
  REQUIRE(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  std::exit(7);
}

TEST_CASE_FIXTURE(OnDevice, "many threads queue on one stream and synchronise it") {
  OwnedStream stream;
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      OnDevice device;
      for (int i = 0; i < 100; ++i) {
        CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &count) == ACL_SUCCESS);
      }
      CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 400);
}

}  // namespace sfmla::test
