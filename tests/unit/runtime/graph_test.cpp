// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scale_case.h"

namespace sfmla::test {
namespace {

constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
constexpr auto kThreadLocal = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

struct OwnedExEvent {
  explicit OwnedExEvent(uint32_t flag = ACL_EVENT_SYNC) {
    REQUIRE(aclrtCreateEventExWithFlag(&handle, flag) == ACL_SUCCESS);
  }
  ~OwnedExEvent() { CHECK(aclrtDestroyEvent(handle) == ACL_SUCCESS); }
  OwnedExEvent(const OwnedExEvent&) = delete;
  OwnedExEvent& operator=(const OwnedExEvent&) = delete;

  aclrtEvent handle = nullptr;
};

aclmdlRI EndOf(aclrtStream stream) {
  aclmdlRI graph = nullptr;
  REQUIRE(aclmdlRICaptureEnd(stream, &graph) == ACL_SUCCESS);
  REQUIRE(graph != nullptr);
  return graph;
}

void CheckEndRefused(aclrtStream stream, int32_t code, std::initializer_list<const char*> words) {
  aclmdlRI graph = stream;
  CheckRefusal(aclmdlRICaptureEnd(stream, &graph), code, words);
  CHECK(graph == nullptr);
}

void Replay(aclmdlRI graph, aclrtStream stream) {
  REQUIRE(aclmdlRIExecuteAsync(graph, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  REQUIRE(aclmdlRICaptureGetInfo(stream, &status, nullptr) == ACL_SUCCESS);
  return status;
}

void AddOne(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

// Appends its letter to the text when it runs.
struct Letter {
  static void Append(void* letter) {
    auto* self = static_cast<Letter*>(letter);
    *self->text += self->value;
  }
  void Queue(aclrtStream stream) {
    REQUIRE(aclrtLaunchHostFunc(stream, &Append, this) == ACL_SUCCESS);
  }
  std::string* text;
  char value;
};

}  // namespace

TEST_CASE_FIXTURE(ScaleCase, "a captured operator runs in each replay, on what memory holds then") {
  OwnedStream stream;
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CHECK(Run(executor, stream.handle) == ACLNN_SUCCESS);
  CheckRefusal(Run(executor, stream.handle), ACLNN_ERR_PARAM_INVALID, {"consumed"});
  CHECK(aclDestroyTensor(in_tensor) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(out_tensor) == ACLNN_SUCCESS);
  aclmdlRI graph = EndOf(stream.handle);
  CHECK(out[1] == -1);
  for (int32_t round = 1; round <= 50; ++round) {
    for (int32_t i = 0; i < kElements; ++i) in[i] = round * i;
    Replay(graph, round % 2 == 0 ? nullptr : stream.handle);
    CheckScaled(in);
  }
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "copies, fills and host functions are recorded in their order") {
  OwnedStream stream;
  void* pinned = nullptr;
  void* device = nullptr;
  std::atomic<int> calls{0};
  REQUIRE(aclrtMallocHost(&pinned, 8) == ACL_SUCCESS);
  REQUIRE(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(device);
  CHECK(aclmdlRICaptureBegin(stream.handle, kRelaxed) == ACL_SUCCESS);
  CHECK(aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle) == 0);
  CHECK(aclrtMemsetAsync(device, 8, 0xAB, 4, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &calls) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(stream.handle);
  CHECK(calls == 0);
  for (unsigned char value = 1; value <= 3; ++value) {
    static_cast<unsigned char*>(pinned)[7] = value;
    Replay(graph, stream.handle);
    CHECK(bytes[0] == 0xAB);
    CHECK(bytes[7] == value);
    CHECK(calls == value);
  }
  CHECK(aclmdlRIExecute(graph, -1) == ACL_SUCCESS);
  CHECK(calls == 4);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CHECK(aclrtFreeHost(pinned) == ACL_SUCCESS);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

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

TEST_CASE_FIXTURE(OnDevice, "an external event holds a replay until it is recorded outside") {
  OwnedStream origin;
  OwnedStream side;
  OwnedStream outside;
  OwnedExEvent fork;
  OwnedExEvent join;
  aclrtEvent go = nullptr;
  std::string text;
  Letter held{&text, 'h'};
  Letter free_letter{&text, 'f'};
  CHECK(aclrtCreateEventWithFlag(&go, ACL_EVENT_EXTERNAL) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureBegin(origin.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtRecordEvent(fork.handle, origin.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(side.handle, fork.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(origin.handle, go) == ACL_SUCCESS);
  CHECK(aclrtResetEvent(go, origin.handle) == ACL_SUCCESS);
  held.Queue(origin.handle);
  free_letter.Queue(side.handle);
  CHECK(aclrtRecordEvent(join.handle, side.handle) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(origin.handle, join.handle) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(origin.handle);
  CheckRefusal(aclrtSynchronizeEvent(go), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, {"EXTERNAL"});
  for (int round = 0; round < 2; ++round) {
    text.clear();
    CHECK(aclmdlRIExecuteAsync(graph, origin.handle) == ACL_SUCCESS);
    CheckRefusal(aclrtSynchronizeStreamWithTimeout(origin.handle, 20),
                 ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {"timeout"});
    CheckRefusal(aclmdlRIDestroy(graph), ACL_ERROR_RT_MODEL_RUNNING, {"modelRI"});
    CHECK(aclrtRecordEvent(go, outside.handle) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(origin.handle) == ACL_SUCCESS);
    CHECK(text == "fh");
  }
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(go) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "errors of a replay are errors of its stream") {
  OwnedStream stream;
  std::atomic<int> calls{0};
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch()), stream.handle) == ACLNN_SUCCESS);
  CHECK(aclrtLaunchHostFunc(stream.handle, &AddOne, &calls) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(stream.handle);
  in[0] = -5;
  CHECK(aclmdlRIExecuteAsync(graph, stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"aclnnScale", "-5"});
  CHECK(calls == 1);
  CHECK(aclrtSetStreamFailureMode(stream.handle, ACL_STOP_ON_FAILURE) == ACL_SUCCESS);
  CHECK(aclmdlRIExecuteAsync(graph, stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICORE_EXCEPTION, {"-5"});
  CHECK(calls == 1);
  in[0] = 5;
  Replay(graph, stream.handle);
  CheckScaled(in);
  CHECK(calls == 2);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "replays of one graph take turns") {
  OwnedStream first;
  OwnedStream second;
  static std::atomic<int> inside{0};
  static std::atomic<int> overlaps{0};
  const auto enter = [](void*) {
    if (++inside > 1) ++overlaps;
  };
  const auto leave = [](void*) { --inside; };
  CHECK(aclmdlRICaptureBegin(first.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(first.handle, enter, nullptr) == ACL_SUCCESS);
  CHECK(aclrtLaunchHostFunc(first.handle, leave, nullptr) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(first.handle);
  for (int round = 0; round < 500; ++round) {
    CHECK(aclmdlRIExecuteAsync(graph, first.handle) == ACL_SUCCESS);
    CHECK(aclmdlRIExecuteAsync(graph, second.handle) == ACL_SUCCESS);
  }
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(overlaps == 0);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "a task group takes new arguments for its operators") {
  OwnedStream stream;
  OwnedStream updates;
  aclrtTaskGrp group = nullptr;
  constexpr int32_t kOrder = ACL_ERROR_STREAM_TASK_GROUP_STATUS;
  CheckRefusal(aclmdlRICaptureTaskGrpBegin(stream.handle), ACL_ERROR_RT_STREAM_NOT_CAPTURED,
               {"not captured"});
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskGrpEnd(stream.handle, &group), kOrder, {"no task group"});
  CHECK(aclmdlRICaptureTaskGrpBegin(stream.handle) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskGrpBegin(stream.handle), kOrder, {"do not nest"});
  CHECK(Run(NewExecutor(MakeLaunch()), stream.handle) == ACLNN_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpEnd(stream.handle, &group) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(stream.handle, group), ACL_ERROR_RT_STREAM_CAPTURED,
               {"captured"});
  aclmdlRI graph = EndOf(stream.handle);

  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, nullptr), ACL_ERROR_RT_PARAM_INVALID,
               {"handle"});
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), kOrder, {"UpdateBegin"});
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates.handle, group) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, group), kOrder, {"already"});
  CheckRefusal(aclrtMemsetAsync(in, 4, 0, 4, updates.handle),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP, {"aclrtMemsetAsync"});
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), ACL_ERROR_RT_INTERNAL_ERROR,
               {"0", "1"});
  Replay(graph, stream.handle);
  CheckScaled(in);

  CHECK(aclSetRawTensorAddr(in_tensor, other) == ACLNN_SUCCESS);
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates.handle, group) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch()), updates.handle) == ACLNN_SUCCESS);
  CHECK(aclmdlRICaptureTaskUpdateEnd(updates.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(updates.handle) == ACL_SUCCESS);
  Replay(graph, stream.handle);
  CheckScaled(other);

  Launch renamed = MakeLaunch();
  renamed.op_name = "aclnnOther";
  CHECK(aclmdlRICaptureTaskUpdateBegin(updates.handle, group) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(std::move(renamed)), updates.handle, nullptr, 0, "aclnnOther") == 0);
  CheckRefusal(aclmdlRICaptureTaskUpdateEnd(updates.handle), ACL_ERROR_RT_INTERNAL_ERROR,
               {"aclnnOther", "aclnnScale"});
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CheckRefusal(aclmdlRICaptureTaskUpdateBegin(updates.handle, group), ACL_ERROR_RT_PARAM_INVALID,
               {"handle", "destroyed"});
}

TEST_CASE_FIXTURE(OnDevice, "an open task group ends the capture in failure") {
  OwnedStream stream;
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  CHECK(aclmdlRICaptureTaskGrpBegin(stream.handle) == ACL_SUCCESS);
  CheckEndRefused(stream.handle, ACL_ERROR_STREAM_TASK_GROUP_STATUS, {"task group"});
}

TEST_CASE_FIXTURE(OnDevice, "a graph has a number, a name and callbacks for its end") {
  OwnedStream stream;
  std::atomic<int> ends{0};
  char name[8] = {};
  uint32_t first_id = 0;
  uint32_t second_id = 0;
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  aclmdlRI graph = EndOf(stream.handle);
  CHECK(aclmdlRICaptureBegin(stream.handle, kGlobal) == ACL_SUCCESS);
  aclmdlRI second = EndOf(stream.handle);
  CHECK(aclmdlRIGetId(graph, &first_id) == ACL_SUCCESS);
  CHECK(aclmdlRIGetId(second, &second_id) == ACL_SUCCESS);
  CHECK(first_id != second_id);
  CHECK(aclmdlRISetName(graph, "decode!") == ACL_SUCCESS);
  CHECK(aclmdlRIGetName(graph, sizeof(name), name) == ACL_SUCCESS);
  CHECK(std::string(name) == "decode!");
  CheckRefusal(aclmdlRIGetName(graph, 7, name), ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
               {"maxLen", "7", "8"});
  CHECK(aclmdlRIDestroyRegisterCallback(graph, &AddOne, &ends) == ACL_SUCCESS);
  CHECK(aclmdlRIDestroyRegisterCallback(second, &AddOne, &ends) == ACL_SUCCESS);
  CHECK(aclmdlRIDestroyUnregisterCallback(second, &AddOne) == ACL_SUCCESS);
  CheckRefusal(aclmdlRIDestroyUnregisterCallback(second, &AddOne), ACL_ERROR_RT_PARAM_INVALID,
               {"func"});
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CHECK(aclmdlRIDestroy(second) == ACL_SUCCESS);
  CHECK(ends == 1);
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
