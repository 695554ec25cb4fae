// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "graph_case.h"
#include "scale_case.h"

namespace sfmla::test {

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

}  // namespace sfmla::test
