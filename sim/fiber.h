// SPDX-License-Identifier: Apache-2.0
// A function with a stack of its own that can be left and entered again.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>

namespace sfmla::sim {

// All members are called from one thread: Resume and Abandon from outside the fiber, Yield from
// inside. Fibers do not resume other fibers.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();  // abandons the body if it has not returned
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  bool finished() const { return finished_; }
  // Runs the body until it yields or returns. What the body throws is thrown here.
  void Resume();
  // Makes the pending Yield throw Abandoned, so that the body's destructors run. The body must not
  // yield again.
  void Abandon();
  // Returns to the caller of Resume.
  void Yield();

  struct Abandoned {};

 private:
  static void Entry(unsigned low, unsigned high);
  void Run();
  void SwitchIn();
  void SwitchOut(bool last);

  std::function<void()> body_;
  void* stack_ = nullptr;
  ucontext_t inside_{};
  ucontext_t outside_{};
  std::exception_ptr thrown_;
  bool started_ = false;
  bool finished_ = false;
  bool abandoned_ = false;
  // What sanitizers keep of a stack they are told about; unused in builds without them.
  [[maybe_unused]] void* inside_fake_stack_ = nullptr;
  [[maybe_unused]] void* outside_fake_stack_ = nullptr;
  [[maybe_unused]] const void* outside_bottom_ = nullptr;
  [[maybe_unused]] size_t outside_size_ = 0;
  [[maybe_unused]] void* inside_tsan_ = nullptr;
  [[maybe_unused]] void* outside_tsan_ = nullptr;
};

}  // namespace sfmla::sim
