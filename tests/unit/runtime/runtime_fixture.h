// SPDX-License-Identifier: Apache-2.0
// What the tests of the runtime share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace sfmla::test {

inline std::string TakeText() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

// The code is as expected, the text has every word, and reading it cleared it.
inline void CheckRefusal(int32_t code, int32_t expected, std::initializer_list<const char*> words) {
  CHECK(code == expected);
  const std::string text = TakeText();
  CHECK_FALSE(text.empty());
  for (const char* word : words) {
    INFO("text: ", text);
    CHECK_MESSAGE(text.find(word) != std::string::npos, "missing: ", word);
  }
  CHECK(aclGetRecentErrMsg() == nullptr);
}

// The primary context of device 0 is current; no error is pending before and after.
struct OnDevice {
  OnDevice() {
    aclGetRecentErrMsg();
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  }
  ~OnDevice() {
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    CHECK(TakeText() == "");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

struct OwnedStream {
  OwnedStream() { REQUIRE(aclrtCreateStream(&handle) == ACL_SUCCESS); }
  ~OwnedStream() { CHECK(aclrtDestroyStream(handle) == ACL_SUCCESS); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;

  aclrtStream handle = nullptr;
};

struct OwnedEvent {
  OwnedEvent() { REQUIRE(aclrtCreateEvent(&handle) == ACL_SUCCESS); }
  ~OwnedEvent() { CHECK(aclrtDestroyEvent(handle) == ACL_SUCCESS); }
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;

  aclrtEvent handle = nullptr;
};

// Holds a stream up until it is opened.
class Gate {
 public:
  void Block(aclrtStream stream) { REQUIRE(aclrtLaunchHostFunc(stream, &Wait, this) == 0); }
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void Wait(void* gate) {
    auto* self = static_cast<Gate*>(gate);
    std::unique_lock lock(self->mutex_);
    self->changed_.wait(lock, [&] { return self->open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// Runs the skipped test case `name` of this program in a process of its own, with one environment
// variable ("NAME=value") added, and returns the exit code (128 + signal if a signal ended it).
inline int RunInChild(const std::string& name, std::string variable) {
  const std::string filter = "--test-case=" + name;
  std::vector<char*> environment;
  environment.push_back(variable.data());
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  const char* arguments[] = {"child", filter.c_str(), "--no-skip", "--minimal", nullptr};
  const pid_t child = fork();
  if (child == 0) {
    execve("/proc/self/exe", const_cast<char* const*>(arguments), environment.data());
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace sfmla::test
