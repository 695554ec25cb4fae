// SPDX-License-Identifier: Apache-2.0
#include "sim/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

#if defined(__has_feature)
#define SFMLA_HAS_FEATURE(x) __has_feature(x)
#else
#define SFMLA_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SFMLA_HAS_FEATURE(address_sanitizer)
#define SFMLA_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || SFMLA_HAS_FEATURE(thread_sanitizer)
#define SFMLA_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace sfmla::sim {

namespace {

// Address space; pages are used as the stack grows.
constexpr size_t kStackBytes = size_t{1} << 20;

size_t GuardBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  stack_ = mmap(nullptr, kStackBytes + GuardBytes(), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack_, GuardBytes(), PROT_NONE);
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = static_cast<std::byte*>(stack_) + GuardBytes();
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::Entry), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(uint64_t{self} >> 32));
#ifdef SFMLA_FIBER_TSAN
  inside_tsan_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  Abandon();
#ifdef SFMLA_FIBER_TSAN
  __tsan_destroy_fiber(inside_tsan_);
#endif
  munmap(stack_, kStackBytes + GuardBytes());
}

void Fiber::Resume() {
  started_ = true;
  SwitchIn();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Fiber::Abandon() {
  if (!started_ || finished_) return;
  abandoned_ = true;
  SwitchIn();
}

void Fiber::Yield() {
  SwitchOut(false);
  if (abandoned_) throw Abandoned();
}

void Fiber::Entry(unsigned low, unsigned high) {
  const uint64_t self = uint64_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(self))->Run();
}

void Fiber::Run() {
#ifdef SFMLA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &outside_bottom_, &outside_size_);
#endif
  try {
    body_();
  } catch (const Abandoned&) {
  } catch (...) {
    thrown_ = std::current_exception();
  }
  finished_ = true;
  SwitchOut(true);
}

void Fiber::SwitchIn() {
#ifdef SFMLA_FIBER_ASAN
  __sanitizer_start_switch_fiber(&outside_fake_stack_, inside_.uc_stack.ss_sp, kStackBytes);
#endif
#ifdef SFMLA_FIBER_TSAN
  outside_tsan_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_tsan_, 0);
#endif
  swapcontext(&outside_, &inside_);
#ifdef SFMLA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(outside_fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::SwitchOut([[maybe_unused]] bool last) {
#ifdef SFMLA_FIBER_ASAN
  // Without a place to keep it, the fake stack of a finished fiber is freed.
  __sanitizer_start_switch_fiber(last ? nullptr : &inside_fake_stack_, outside_bottom_,
                                 outside_size_);
#endif
#ifdef SFMLA_FIBER_TSAN
  __tsan_switch_to_fiber(outside_tsan_, 0);
#endif
  swapcontext(&inside_, &outside_);
#ifdef SFMLA_FIBER_ASAN
  __sanitizer_finish_switch_fiber(inside_fake_stack_, &outside_bottom_, &outside_size_);
#endif
}

}  // namespace sfmla::sim
