// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

#include "graph_case.h"

namespace sfmla::test {

TEST_CASE_FIXTURE(OnDevice, "the life of a capture and its codes") {
  OwnedStream stream;
  aclrtStream default_stream = nullptr;
  aclmdlRI graph = nullptr;
  CHECK(aclrtCtxGetCurrentDefaultStream(&default_stream) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureBegin(nullptr, kGlobal), ACL_ERROR_INVALID_PARAM, {"stream"});
  CheckRefusal(aclmdlRICaptureBegin(default_stream, kGlobal), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               {"default stream"});
  CheckRefusal(aclmdlRICaptureBegin(stream.handle, static_cast<aclmdlRICaptureMode>(3)),
               ACL_ERROR_RT_PARAM_INVALID, {"mode", "3"});
  CheckEndRefused(stream.handle, ACL_ERROR_RT_STREAM_NOT_CAPTURED, {"not captured"});
  CHECK(StatusOf(stream.handle) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  CheckRefusal(aclmdlRICaptureGetInfo(stream.handle, nullptr, nullptr), ACL_ERROR_INVALID_PARAM,
               {"status", "modelRI"});

  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureBegin(stream.handle, kGlobal), ACL_ERROR_RT_STREAM_CAPTURED,
               {"captured already"});
  CHECK(StatusOf(stream.handle) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  CHECK(aclmdlRICaptureGetInfo(stream.handle, nullptr, &graph) == ACL_SUCCESS);
  CheckRefusal(aclmdlRIDestroy(graph), ACL_ERROR_RT_PARAM_INVALID, {"modelRI"});
  CheckRefusal(aclmdlRICaptureEnd(stream.handle, nullptr), ACL_ERROR_RT_PARAM_INVALID, {"modelRI"});
  CHECK(EndOf(stream.handle) == graph);
  Replay(graph, stream.handle);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CheckRefusal(aclmdlRIDestroy(graph), ACL_ERROR_RT_PARAM_INVALID, {"modelRI", "destroyed"});
  CheckRefusal(aclmdlRIExecuteAsync(graph, nullptr), ACL_ERROR_RT_PARAM_INVALID, {"modelRI"});
  CheckRefusal(aclmdlRIExecuteAsync(nullptr, nullptr), ACL_ERROR_INVALID_PARAM, {"modelRI"});
  CheckRefusal(aclmdlRIDestroy(nullptr), ACL_ERROR_INVALID_PARAM, {"modelRI"});
}

TEST_CASE_FIXTURE(OnDevice, "another thread ends a relaxed capture only; otherwise it is dropped") {
  OwnedStream stream;
  for (const auto mode : {kGlobal, kThreadLocal}) {
    CHECK(aclmdlRICaptureBegin(stream.handle, mode) == ACL_SUCCESS);
    std::thread([&] {
      REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
      CheckEndRefused(stream.handle, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, {"thread"});
      CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    }).join();
    CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  }
  CHECK(aclmdlRICaptureBegin(stream.handle, kRelaxed) == ACL_SUCCESS);
  std::thread([&] {
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    CHECK(aclmdlRIDestroy(EndOf(stream.handle)) == ACL_SUCCESS);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  }).join();
}

TEST_CASE_FIXTURE(OnDevice,
                  "a captured stream cannot be waited for, and no capture is lost by it") {
  OwnedStream stream;
  CHECK(aclmdlRICaptureBegin(stream.handle, kRelaxed) == ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  constexpr int32_t kCaptured = ACL_ERROR_RT_STREAM_CAPTURED;
  CheckRefusal(aclrtSynchronizeStream(stream.handle), kCaptured, {"captured"});
  CheckRefusal(aclrtSynchronizeStreamWithTimeout(stream.handle, 5), kCaptured, {"captured"});
  CheckRefusal(aclrtStreamQuery(stream.handle, &status), kCaptured, {"captured"});
  CheckRefusal(aclrtDestroyStream(stream.handle), kCaptured, {"captured"});
  CheckRefusal(aclrtDestroyStreamForce(stream.handle), kCaptured, {"captured"});
  CheckRefusal(aclrtSynchronizeDevice(), kCaptured, {"captured"});
  CHECK(aclmdlRIDestroy(EndOf(stream.handle)) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "modes decide about calls that run at once") {
  OwnedStream stream;
  OwnedStream other;
  int host = 0;
  void* device = nullptr;
  REQUIRE(aclrtMalloc(&device, 4, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto copy = [&] { return aclrtMemcpy(device, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE); };
  const auto copy_on = [&](aclrtStream where) {
    return aclrtMemcpyAsync(device, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, where);
  };
  const auto in_thread = [&](const auto& body) {
    std::thread([&] {
      REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
      body();
      CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    }).join();
  };
  constexpr int32_t kForbidden = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;

  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CheckRefusal(copy(), kForbidden, {"capture"});
  CheckRefusal(aclrtMemset(device, 4, 0, 4), kForbidden, {"capture"});
  CheckRefusal(copy_on(stream.handle), ACL_ERROR_RT_PARAM_INVALID, {"pageable"});
  CheckRefusal(copy_on(other.handle), ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, {"capture"});
  in_thread([&] { CheckRefusal(copy(), kForbidden, {"capture"}); });
  aclmdlRICaptureMode mode = kRelaxed;
  CHECK(aclmdlRICaptureThreadExchangeMode(&mode) == ACL_SUCCESS);
  CHECK(mode == kGlobal);
  CHECK(copy() == ACL_SUCCESS);
  CHECK(copy_on(other.handle) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureThreadExchangeMode(&mode) == ACL_SUCCESS);
  CHECK(mode == kRelaxed);
  CHECK(aclmdlRIDestroy(EndOf(stream.handle)) == ACL_SUCCESS);
  CHECK(copy() == ACL_SUCCESS);

  CHECK(aclmdlRICaptureBegin(stream.handle, kThreadLocal) == ACL_SUCCESS);
  CheckRefusal(copy(), kForbidden, {"capture"});
  in_thread([&] { CHECK(copy() == ACL_SUCCESS); });
  CHECK(aclmdlRIDestroy(EndOf(stream.handle)) == ACL_SUCCESS);

  CHECK(aclmdlRICaptureBegin(stream.handle, kRelaxed) == ACL_SUCCESS);
  CHECK(copy() == ACL_SUCCESS);
  CHECK(aclmdlRIDestroy(EndOf(stream.handle)) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureThreadExchangeMode(nullptr), ACL_ERROR_INVALID_PARAM, {"mode"});
  mode = static_cast<aclmdlRICaptureMode>(9);
  CheckRefusal(aclmdlRICaptureThreadExchangeMode(&mode), ACL_ERROR_RT_PARAM_INVALID, {"mode", "9"});
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "streams join a capture through Ex events and keep their order") {
  OwnedStream origin;
  OwnedStream side;
  OwnedExEvent fork;
  OwnedExEvent join;
  std::string text;
  Letter a{&text, 'a'};
  Letter b{&text, 'b'};
  Letter c{&text, 'c'};
  CHECK(aclmdlRICaptureBegin(origin.handle, kGlobal) == ACL_SUCCESS);
  a.Queue(origin.handle);
  CHECK(aclrtRecordEvent(fork.handle, origin.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(side.handle, fork.handle) == ACL_SUCCESS);
  CHECK(StatusOf(side.handle) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  b.Queue(side.handle);
  CheckEndRefused(side.handle, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, {"another stream"});
  CHECK(aclrtRecordEvent(join.handle, side.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeEvent(join.handle), ACL_ERROR_RT_EVENT_CAPTURED, {"event"});
  CheckRefusal(aclrtSynchronizeStream(side.handle), ACL_ERROR_RT_STREAM_CAPTURED, {"captured"});
  CHECK(aclrtStreamWaitEvent(origin.handle, join.handle) == ACL_SUCCESS);
  c.Queue(origin.handle);
  aclmdlRI graph = EndOf(origin.handle);
  CHECK(aclrtSynchronizeEvent(join.handle) == ACL_SUCCESS);
  Replay(graph, side.handle);
  Replay(graph, nullptr);
  CHECK(text == "abcabc");
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a stream that joined must be joined back") {
  OwnedStream origin;
  OwnedStream side;
  OwnedExEvent fork;
  OwnedExEvent join;
  std::atomic<int> calls{0};
  for (const bool late_work : {false, true}) {
    CHECK(aclmdlRICaptureBegin(origin.handle, kGlobal) == ACL_SUCCESS);
    CHECK(aclrtRecordEvent(fork.handle, origin.handle) == ACL_SUCCESS);
    CHECK(aclrtStreamWaitEvent(side.handle, fork.handle) == ACL_SUCCESS);
    if (late_work) {
      CHECK(aclrtRecordEvent(join.handle, side.handle) == ACL_SUCCESS);
      CHECK(aclrtStreamWaitEvent(origin.handle, join.handle) == ACL_SUCCESS);
      CHECK(aclrtLaunchHostFunc(side.handle, &AddOne, &calls) == ACL_SUCCESS);
    }
    CheckEndRefused(origin.handle, ACL_ERROR_RT_STREAM_UNJOINED, {"sub stream"});
  }
  CHECK(aclrtLaunchHostFunc(side.handle, &AddOne, &calls) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(calls == 1);
}

TEST_CASE_FIXTURE(OnDevice, "events that do not fit a capture invalidate it") {
  OwnedStream first;
  OwnedStream second;
  OwnedEvent plain;
  OwnedExEvent event;
  constexpr int32_t kInvalidated = ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;

  CHECK(aclmdlRICaptureBegin(first.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(first.handle, event.handle) == ACL_SUCCESS);  // never recorded
  CheckRefusal(aclrtRecordEvent(plain.handle, first.handle), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               {"event"});
  CHECK(StatusOf(first.handle) == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  CheckRefusal(aclrtRecordEvent(event.handle, first.handle), kInvalidated, {"invalidated"});
  CheckEndRefused(first.handle, kInvalidated, {"invalidated", "207000"});

  CHECK(aclrtRecordEvent(event.handle, second.handle) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureBegin(first.handle, kGlobal) == ACL_SUCCESS);
  CheckRefusal(aclrtStreamWaitEvent(first.handle, event.handle), ACL_ERROR_RT_CAPTURE_DEPENDENCY,
               {"event"});
  CheckEndRefused(first.handle, kInvalidated, {"107024"});

  CHECK(aclmdlRICaptureBegin(first.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureBegin(second.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, first.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtStreamWaitEvent(second.handle, event.handle), ACL_ERROR_STREAM_CAPTURE_CONFLICT,
               {"another capture"});
  CheckEndRefused(first.handle, kInvalidated, {"107032"});
  CheckEndRefused(second.handle, kInvalidated, {"107032"});

  CHECK(aclmdlRICaptureBegin(first.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(event.handle, first.handle) == ACL_SUCCESS);
  constexpr int32_t kImplicit = ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT;
  CheckRefusal(aclrtStreamWaitEvent(nullptr, event.handle), kImplicit, {"default stream"});
  CheckRefusal(aclrtRecordEvent(event.handle, nullptr), kImplicit, {"default stream"});
  CHECK(aclmdlRIDestroy(EndOf(first.handle)) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a context that ends takes its captures along, graphs stay") {
  aclrtContext primary = nullptr;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtStream second = nullptr;
  CHECK(aclrtGetCurrentContext(&primary) == ACL_SUCCESS);
  CHECK(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  CHECK(aclrtCreateStream(&second) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureBegin(second, kGlobal) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(second);
  CHECK(aclmdlRICaptureBegin(stream, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtDestroyContext(context) == ACL_SUCCESS);
  CHECK(aclrtSetCurrentContext(primary) == ACL_SUCCESS);
  CheckRefusal(aclmdlRIExecuteAsync(graph, nullptr), ACL_ERROR_RT_MODEL_CONTEXT, {"context"});
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
}

}  // namespace sfmla::test
