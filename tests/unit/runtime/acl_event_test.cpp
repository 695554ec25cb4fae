// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

aclrtEventRecordedStatus StatusOf(aclrtEvent event) {
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  REQUIRE(aclrtQueryEventStatus(event, &status) == ACL_SUCCESS);
  return status;
}

void SetFlag(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

// Takes the flag of another stream into a result of this one.
struct Sample {
  std::atomic<bool>* flag;
  bool seen = false;
  static void Take(void* sample) {
    auto* own = static_cast<Sample*>(sample);
    own->seen = own->flag->load();
  }
};

}  // namespace

TEST_CASE_FIXTURE(OnDevice, "an event is reached when the stream gets to it") {
  OwnedStream stream;
  OwnedEvent event;
  Gate gate;
  gate.Block(stream.handle);
  CHECK(aclrtRecordEvent(event.handle, stream.handle) == ACL_SUCCESS);
  CHECK(StatusOf(event.handle) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CheckRefusal(aclrtSynchronizeEventWithTimeout(event.handle, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
               {"timeout"});
  for (const int timeout : {0, -2}) {
    CheckRefusal(aclrtSynchronizeEventWithTimeout(event.handle, timeout),
                 ACL_ERROR_RT_PARAM_INVALID, {"timeout"});
  }
  gate.Open();
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  CHECK(StatusOf(event.handle) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_CASE_FIXTURE(OnDevice, "an event orders two streams") {
  OwnedStream producer;
  OwnedStream consumer;
  OwnedEvent event;
  Gate gate;
  std::atomic<bool> flag{false};
  Sample sample{&flag};
  gate.Block(producer.handle);
  CHECK(aclrtLaunchHostFunc(producer.handle, &SetFlag, &flag) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, producer.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(consumer.handle, event.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(consumer.handle, &Sample::Take, &sample) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStreamWithTimeout(consumer.handle, 10),
               ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {"timeout"});
  gate.Open();
  CHECK(aclrtSynchronizeStream(consumer.handle) == ACL_SUCCESS);
  CHECK(sample.seen);
}

TEST_CASE_FIXTURE(OnDevice, "a wait is for the newest record before it, not a later one") {
  OwnedStream producer;
  OwnedStream consumer;
  OwnedEvent event;
  Gate gate;
  CHECK(aclrtRecordEvent(event.handle, producer.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(consumer.handle, event.handle) == ACL_SUCCESS);
  gate.Block(producer.handle);
  CHECK(aclrtRecordEvent(event.handle, producer.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(consumer.handle) == ACL_SUCCESS);
  CHECK(StatusOf(event.handle) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  gate.Open();
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "an event that was never recorded does not hold anybody up") {
  OwnedStream stream;
  OwnedEvent event;
  aclrtEvent ex = nullptr;
  CHECK(aclrtStreamWaitEvent(stream.handle, event.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  CHECK(StatusOf(event.handle) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CHECK(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC) == ACL_SUCCESS);
  CHECK(StatusOf(ex) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  CHECK(aclrtDestroyEvent(ex) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "elapsed time is the time between the records") {
  OwnedStream stream;
  OwnedEvent start;
  OwnedEvent end;
  float ms = 0;
  CheckRefusal(aclrtEventElapsedTime(&ms, start.handle, end.handle), ACL_ERROR_RT_INTERNAL_ERROR,
               {"event", "startEvent"});
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  CHECK(aclrtRecordEvent(start.handle, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(stream.handle, sleep, nullptr) == ACL_SUCCESS);
  Gate gate;
  gate.Block(stream.handle);
  CHECK(aclrtRecordEvent(end.handle, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeEvent(start.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtEventElapsedTime(&ms, start.handle, end.handle),
               ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, {"endEvent", "not reached"});
  gate.Open();
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtEventElapsedTime(&ms, start.handle, end.handle) == ACL_SUCCESS);
  CHECK(ms >= 20.0f);
  float reversed = 0;
  CHECK(aclrtEventElapsedTime(&reversed, end.handle, start.handle) == ACL_SUCCESS);
  CHECK(reversed == -ms);
}

TEST_CASE_FIXTURE(OnDevice, "time stamps are taken only by events that were made for it") {
  OwnedStream stream;
  OwnedEvent start;
  aclrtEvent order_only = nullptr;
  float ms = 0;
  CHECK(aclrtCreateEventWithFlag(&order_only, ACL_EVENT_SYNC) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(start.handle, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(order_only, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtEventElapsedTime(&ms, start.handle, order_only),
               ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, {"endEvent", "ACL_EVENT_TIME_LINE"});
  CHECK(aclrtDestroyEvent(order_only) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "destroying an event does not wait and does not undo its waits") {
  OwnedStream producer;
  OwnedStream consumer;
  Gate gate;
  std::atomic<bool> flag{false};
  Sample sample{&flag};
  aclrtEvent event = nullptr;
  REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS);
  gate.Block(producer.handle);
  CHECK(aclrtLaunchHostFunc(producer.handle, &SetFlag, &flag) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event, producer.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(consumer.handle, event) == ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(consumer.handle, &Sample::Take, &sample) == ACL_SUCCESS);
  gate.Open();
  CHECK(aclrtSynchronizeStream(consumer.handle) == ACL_SUCCESS);
  CHECK(sample.seen);
  CheckRefusal(aclrtDestroyEvent(event), ACL_ERROR_RT_PARAM_INVALID, {"event", "destroyed"});
  CheckRefusal(aclrtRecordEvent(event, producer.handle), ACL_ERROR_RT_PARAM_INVALID, {"event"});
  CheckRefusal(aclrtSynchronizeEvent(event), ACL_ERROR_RT_PARAM_INVALID, {"event"});
}

TEST_CASE_FIXTURE(OnDevice, "bad arguments of events") {
  aclrtEvent event = nullptr;
  CheckRefusal(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM, {"event"});
  CheckRefusal(aclrtCreateEventWithFlag(&event, 0), ACL_ERROR_RT_PARAM_INVALID, {"flag", "0"});
  CheckRefusal(aclrtCreateEventExWithFlag(&event, 0x1000), ACL_ERROR_RT_PARAM_INVALID, {"flag"});
  CheckRefusal(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               {"ACL_EVENT_IPC"});
  CheckRefusal(aclrtDestroyEvent(nullptr), ACL_ERROR_INVALID_PARAM, {"event"});
  CheckRefusal(aclrtRecordEvent(nullptr, nullptr), ACL_ERROR_INVALID_PARAM, {"event"});
}

TEST_CASE_FIXTURE(OnDevice, "work that waits for a later record on its own stream is refused") {
  struct Call {
    aclrtEvent event;
    Gate gate;
    int code = 0;
  };
  OwnedStream stream;
  OwnedEvent event;
  Call call{event.handle, {}, 0};
  call.gate.Block(stream.handle);
  const auto wait = [](void* given) {
    auto* own = static_cast<Call*>(given);
    own->code = aclrtSynchronizeEvent(own->event);
  };
  CHECK(aclrtLaunchHostFunc(stream.handle, wait, &call) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, stream.handle) == ACL_SUCCESS);
  call.gate.Open();
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(call.code == ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace sfmla::test
