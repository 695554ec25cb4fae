// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

void AddOne(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

uint64_t Self() { return static_cast<uint64_t>(pthread_self()); }

}  // namespace

TEST_CASE_FIXTURE(OnDevice,
                  "callbacks run in the subscribed thread, which blocks the stream or not") {
  OwnedStream stream;
  std::atomic<int> calls{0};
  std::atomic<int> after{0};
  CHECK(aclrtSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_NO_BLOCK, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(calls == 0);
  CHECK(aclrtProcessReport(1000) == ACL_SUCCESS);
  CHECK(calls == 1);

  CHECK(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_BLOCK, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback(&AddOne, &after, ACL_CALLBACK_NO_BLOCK, stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStreamWithTimeout(stream.handle, 20),
               ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {"timeout"});
  CHECK(aclrtProcessReport(-1) == ACL_SUCCESS);
  CHECK(calls == 2);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtProcessReport(-1) == ACL_SUCCESS);
  CHECK(after == 1);
  CheckRefusal(aclrtProcessReport(5), ACL_ERROR_RT_REPORT_TIMEOUT, {"timeout"});
  CHECK(aclrtUnSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a callback that throws is an error of both threads, which go on") {
  OwnedStream stream;
  std::atomic<int> calls{0};
  const auto throws = [](void*) { throw std::runtime_error("out of tune"); };
  CHECK(aclrtSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback(throws, nullptr, ACL_CALLBACK_BLOCK, stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtProcessReport(1000), ACL_ERROR_INTERNAL_ERROR, {"out of tune"});
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICPU_EXCEPTION,
               {"callback", "exception"});
  CHECK(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_BLOCK, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtProcessReport(1000) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(calls == 1);
  CHECK(aclrtUnSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "one thread serves several streams until it serves none") {
  OwnedStream first;
  OwnedStream second;
  std::atomic<int> calls{0};
  std::atomic<bool> subscribed{false};
  uint64_t thread_id = 0;
  std::atomic<int32_t> last_code{0};
  std::thread server([&] {
    while (!subscribed) std::this_thread::yield();
    while (last_code == 0) last_code = aclrtProcessReport(-1);
    TakeText();
  });
  thread_id = static_cast<uint64_t>(server.native_handle());
  CHECK(aclrtSubscribeReport(thread_id, first.handle) == ACL_SUCCESS);
  CHECK(aclrtSubscribeReport(thread_id, second.handle) == ACL_SUCCESS);
  subscribed = true;
  for (int i = 0; i < 100; ++i) {
    for (aclrtStream stream : {first.handle, second.handle}) {
      CHECK(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_BLOCK, stream) == ACL_SUCCESS);
    }
  }
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(calls == 200);
  CHECK(aclrtUnSubscribeReport(thread_id, first.handle) == ACL_SUCCESS);
  CHECK(aclrtUnSubscribeReport(thread_id, second.handle) == ACL_SUCCESS);
  server.join();
  CHECK(last_code == ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_CASE_FIXTURE(OnDevice, "subscriptions and host functions exclude each other") {
  OwnedStream callbacks;
  OwnedStream functions;
  std::atomic<int> calls{0};
  CheckRefusal(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_BLOCK, callbacks.handle),
               ACL_ERROR_RT_STREAM_NO_CB_REG, {"subscribed"});
  CheckRefusal(aclrtProcessReport(5), ACL_ERROR_RT_THREAD_SUBSCRIBE, {"thread"});
  CheckRefusal(aclrtProcessReport(0), ACL_ERROR_RT_PARAM_INVALID, {"timeout"});
  CHECK(aclrtSubscribeReport(Self(), callbacks.handle) == ACL_SUCCESS);
  constexpr int32_t kMixed = ACL_ERROR_RT_STREAM_SUBSCRIBE;
  CheckRefusal(aclrtSubscribeReport(Self(), callbacks.handle), kMixed, {"already"});
  CheckRefusal(aclrtLaunchHostFunc(callbacks.handle, &AddOne, &calls), kMixed, {"subscribed"});
  CHECK(aclrtLaunchHostFunc(functions.handle, &AddOne, &calls) == ACL_SUCCESS);
  CheckRefusal(aclrtSubscribeReport(Self(), functions.handle), kMixed, {"aclrtLaunchHostFunc"});
  CheckRefusal(aclrtUnSubscribeReport(Self(), functions.handle), ACL_ERROR_RT_STREAM_NO_CB_REG,
               {"not subscribed"});
  CheckRefusal(aclrtLaunchCallback(&AddOne, &calls, static_cast<aclrtCallbackBlockType>(7),
                                   callbacks.handle),
               ACL_ERROR_INVALID_PARAM, {"blockType", "7"});
  CHECK(aclrtUnSubscribeReport(Self(), callbacks.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtUnSubscribeReport(Self(), callbacks.handle), ACL_ERROR_RT_THREAD_SUBSCRIBE,
               {"thread"});
  CHECK(aclrtSynchronizeStream(functions.handle) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice,
                  "what nobody will run any more is dropped, with an error of the stream") {
  OwnedStream stream;
  std::atomic<int> calls{0};
  CHECK(aclrtSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback(&AddOne, &calls, ACL_CALLBACK_BLOCK, stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStreamWithTimeout(stream.handle, 20),
               ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {"timeout"});
  CHECK(aclrtUnSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_STREAM_NO_CB_REG,
               {"unsubscribed"});
  CHECK(calls == 0);
}

TEST_CASE_FIXTURE(OnDevice, "a callback that blocks its stream cannot wait for it") {
  struct Waiter {
    aclrtStream stream;
    int32_t code = 0;
  };
  OwnedStream stream;
  Waiter waiter{stream.handle};
  const auto wait = [](void* given) {
    auto* self = static_cast<Waiter*>(given);
    self->code = aclrtSynchronizeStream(self->stream);
  };
  CHECK(aclrtSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback(wait, &waiter, ACL_CALLBACK_BLOCK, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtProcessReport(-1) == ACL_SUCCESS);
  CheckRefusal(waiter.code, ACL_ERROR_RT_PARAM_INVALID, {"stream", "itself"});
  CHECK(aclrtUnSubscribeReport(Self(), stream.handle) == ACL_SUCCESS);
}

}  // namespace sfmla::test
