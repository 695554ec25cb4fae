// SPDX-License-Identifier: Apache-2.0
// Locks of the process that are free in a forked child.
//
// fork() copies the calling thread only: a lock that another thread holds at that moment would stay
// held in the child for ever. So fork() first takes every ForkLock, in ascending order, and parent
// and child release them. Hence the rule for their users: who holds one waits for ones of a greater
// order only, and neither calls back nor waits for work.
//
// ForkLocks are members of objects that are made when the library is loaded and never destroyed:
// one made on first use could be half made while another thread forks.
#pragma once

#include <functional>
#include <mutex>
#include <new>
#include <utility>

namespace sfmla {

// Whether this process was forked by one that had the library loaded.
bool IsForkedChild();

namespace fork_detail {

struct Lock {
  int order = 0;
  void* mutex = nullptr;
  void (*acquire)(void* mutex) = nullptr;
  void (*release)(void* mutex) = nullptr;
  void (*renew)(void* mutex) = nullptr;  // release in the child
  std::function<void()> in_child;
};

void Register(Lock lock);
void Unregister(const void* mutex);

}  // namespace fork_detail

// A Mutex that knows of fork(). In the child `in_child` is called while this lock is held and those
// of greater order are free again.
template <typename Mutex>
class ForkLock final : public Mutex {
 public:
  explicit ForkLock(int order, std::function<void()> in_child = {}) {
    fork_detail::Register({order, this, [](void* self) { Self(self)->lock(); },
                           [](void* self) { Self(self)->unlock(); }, &Renew, std::move(in_child)});
  }
  ~ForkLock() { fork_detail::Unregister(this); }
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

 private:
  static ForkLock* Self(void* self) { return static_cast<ForkLock*>(self); }

  // Shared mutexes count those who wait, and who waited in the parent never comes in the child.
  static void Renew(void* self) {
    Self(self)->unlock();
    new (static_cast<Mutex*>(Self(self))) Mutex;
  }
};

using ForkMutex = ForkLock<std::mutex>;

}  // namespace sfmla
