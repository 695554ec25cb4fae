// SPDX-License-Identifier: Apache-2.0
// fork() while other threads are inside the library: the child is never left waiting.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "scale_case.h"

namespace sfmla::test {
namespace {

constexpr unsigned kAlarmSeconds = 60;  // a child that hangs ends by this signal
constexpr size_t kBytes = 64;

// What a child found, without the test framework, which is not made for it: the first step that
// went wrong, else 0.
class Steps {
 public:
  void Require(bool holds) {
    ++count_;
    if (!holds && failed_ == 0) failed_ = count_;
  }
  void Refused(int32_t code, int32_t expected, const char* word) {
    const char* text = aclGetRecentErrMsg();
    Require(code == expected);
    Require(text != nullptr && std::strstr(text, word) != nullptr);
  }
  int failed() const { return failed_; }

 private:
  int count_ = 0;
  int failed_ = 0;
};

int InForkedChild(const std::function<void(Steps*)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kAlarmSeconds);
    Steps steps;
    body(&steps);
    _exit(steps.failed());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// ThreadSanitizer ends a child that starts a thread.
#if defined(__SANITIZE_THREAD__)
constexpr bool kChildMayStartThreads = false;
#else
constexpr bool kChildMayStartThreads = true;
#endif

void UseStream(Steps* steps, aclrtStream stream) {
  std::array<char, kBytes> host{};
  void* device = nullptr;
  steps->Require(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  steps->Require(aclrtMemsetAsync(device, kBytes, 7, kBytes, stream) == ACL_SUCCESS);
  steps->Require(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  steps->Require(aclrtMemcpy(host.data(), kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST) == 0);
  steps->Require(host[kBytes - 1] == 7);
  steps->Require(aclrtFree(device) == ACL_SUCCESS);
}

void UseThreadPool(Steps* steps) {
  std::atomic<int> runs{0};
  ProcessThreadPool().ParallelFor(100, [&](int64_t, int) { ++runs; });
  steps->Require(runs == 100);
}

// Every kind of call that another thread of the parent may have been in.
void UseLibrary(Steps* steps) {
  const int64_t dims[] = {2, 3};
  int32_t device = -1;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void* pinned = nullptr;
  steps->Require(aclrtSetDevice(0) == ACL_SUCCESS);
  steps->Require(aclrtGetDevice(&device) == ACL_SUCCESS && device == 0);
  steps->Require(aclrtMallocHost(&pinned, kBytes) == ACL_SUCCESS);
  steps->Require(aclrtFreeHost(pinned) == ACL_SUCCESS);
  aclTensor* tensor =
      aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr);
  steps->Require(tensor != nullptr && aclDestroyTensor(tensor) == ACLNN_SUCCESS);
  steps->Refused(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID, "destroyed");
  steps->Require(aclrtCreateStream(&stream) == ACL_SUCCESS);
  steps->Require(aclrtCreateEvent(&event) == ACL_SUCCESS);
  if (kChildMayStartThreads) {
    UseStream(steps, stream);
    UseStream(steps, nullptr);
    UseThreadPool(steps);
  }
  steps->Require(aclrtDestroyEvent(event) == ACL_SUCCESS);
  steps->Require(aclrtDestroyStream(stream) == ACL_SUCCESS);
  steps->Require(aclrtResetDevice(0) == ACL_SUCCESS);
}

// Makes, uses and ends objects of all kinds until told to stop.
[[maybe_unused]] void UseEverything(const std::atomic<bool>& stop) {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  while (!stop) {
    Steps steps;
    UseLibrary(&steps);
    UseStream(&steps, nullptr);
    UseThreadPool(&steps);
    aclrtStream stream = nullptr;
    aclmdlRI graph = nullptr;
    steps.Require(aclrtCreateStream(&stream) == ACL_SUCCESS);
    steps.Require(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == ACL_SUCCESS);
    steps.Require(aclrtLaunchHostFunc(stream, [](void*) {}, nullptr) == ACL_SUCCESS);
    steps.Require(aclmdlRICaptureEnd(stream, &graph) == ACL_SUCCESS);
    steps.Require(aclmdlRIExecuteAsync(graph, stream) == ACL_SUCCESS);
    steps.Require(aclrtDestroyStream(stream) == ACL_SUCCESS);
    steps.Require(aclmdlRIDestroy(graph) == ACL_SUCCESS);
    CHECK(steps.failed() == 0);
  }
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
}

}  // namespace

// The allocator of AddressSanitizer leaves its locks as they are in the child.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE_FIXTURE(OnDevice, "fork: a child works, whatever other threads were doing") {
  constexpr int kForks = 200;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { UseEverything(stop); });
  for (int round = 0; round < kForks; ++round) CHECK(InForkedChild(&UseLibrary) == 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}
#endif

TEST_CASE_FIXTURE(ScaleCase, "fork: what has threads or waits is refused in the child") {
  const OwnedStream stream;
  const OwnedEvent event;
  Gate gate;
  aclmdlRI graph = nullptr;
  REQUIRE(aclmdlRICaptureBegin(stream.handle, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
  REQUIRE(aclmdlRICaptureEnd(stream.handle, &graph) == ACL_SUCCESS);
  aclOpExecutor* executor = NewExecutor(MakeLaunch());
  gate.Block(stream.handle);
  gate.Block(nullptr);
  REQUIRE(aclrtRecordEvent(event.handle, stream.handle) == ACL_SUCCESS);
  const int failed = InForkedChild([&](Steps* steps) {
    constexpr const char* kForked = "before the process forked";
    constexpr int32_t kInvalid = ACL_ERROR_RT_PARAM_INVALID;
    steps->Refused(aclrtSynchronizeStream(stream.handle), kInvalid, kForked);
    steps->Refused(aclrtMemsetAsync(out, 4, 0, 4, stream.handle), kInvalid, kForked);
    steps->Refused(aclrtDestroyStream(stream.handle), kInvalid, kForked);
    steps->Refused(aclrtSynchronizeEvent(event.handle), kInvalid, kForked);
    steps->Refused(aclmdlRIExecuteAsync(graph, nullptr), kInvalid, kForked);
    steps->Refused(Run(executor, nullptr), ACLNN_ERR_PARAM_INVALID, kForked);
    // Work that is queued in the parent is not queued here.
    steps->Require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    steps->Require(aclrtSynchronizeDevice() == ACL_SUCCESS);
  });
  gate.Open();
  CHECK(failed == 0);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(aclmdlRIDestroy(graph) == ACL_SUCCESS);
  CHECK(DestroyExecutor(executor).ok());
}

TEST_CASE_FIXTURE(ScaleCase, "fork: memory and descriptors stay, and the parent goes on") {
  in[1] = 41;
  const int failed = InForkedChild([&](Steps* steps) {
    int32_t value = 0;
    constexpr auto kToHost = ACL_MEMCPY_DEVICE_TO_HOST;
    steps->Require(aclrtMemcpy(&value, 4, in + 1, 4, kToHost) == ACL_SUCCESS && value == 41);
    if (!kChildMayStartThreads) return;
    steps->Require(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
    steps->Require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    steps->Require(out[1] == 3 * 41);
  });
  CHECK(failed == 0);
  CHECK(out[1] == -1);
  REQUIRE(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
}

}  // namespace sfmla::test
