// SPDX-License-Identifier: Apache-2.0
// What the tests of captures and graphs share.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <initializer_list>
#include <string>

#include "runtime_fixture.h"

namespace sfmla::test {

inline constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
inline constexpr auto kThreadLocal = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
inline constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

struct OwnedExEvent {
  explicit OwnedExEvent(uint32_t flag = ACL_EVENT_SYNC) {
    REQUIRE(aclrtCreateEventExWithFlag(&handle, flag) == ACL_SUCCESS);
  }
  ~OwnedExEvent() { CHECK(aclrtDestroyEvent(handle) == ACL_SUCCESS); }
  OwnedExEvent(const OwnedExEvent&) = delete;
  OwnedExEvent& operator=(const OwnedExEvent&) = delete;

  aclrtEvent handle = nullptr;
};

inline aclmdlRI EndOf(aclrtStream stream) {
  aclmdlRI graph = nullptr;
  REQUIRE(aclmdlRICaptureEnd(stream, &graph) == ACL_SUCCESS);
  REQUIRE(graph != nullptr);
  return graph;
}

inline void CheckEndRefused(aclrtStream stream, int32_t code,
                            std::initializer_list<const char*> words) {
  aclmdlRI graph = stream;
  CheckRefusal(aclmdlRICaptureEnd(stream, &graph), code, words);
  CHECK(graph == nullptr);
}

inline void Replay(aclmdlRI graph, aclrtStream stream) {
  REQUIRE(aclmdlRIExecuteAsync(graph, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

inline aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  REQUIRE(aclmdlRICaptureGetInfo(stream, &status, nullptr) == ACL_SUCCESS);
  return status;
}

inline void AddOne(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

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

}  // namespace sfmla::test
