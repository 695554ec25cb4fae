// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace sfmla {
namespace {

std::atomic<bool> g_is_forked_child{false};

struct Registry {
  std::mutex mutex;  // before all locks
  std::vector<fork_detail::Lock> locks;
};

void BeforeFork();
void AfterForkInParent();
void AfterForkInChild();

Registry& AllLocks() {
  static Registry* registry = [] {
    pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
    return new Registry;
  }();
  return *registry;
}

void BeforeFork() {
  AllLocks().mutex.lock();
  for (const fork_detail::Lock& lock : AllLocks().locks) lock.acquire(lock.mutex);
}

void AfterForkInParent() {
  std::vector<fork_detail::Lock>& locks = AllLocks().locks;
  for (auto lock = locks.rbegin(); lock != locks.rend(); ++lock) lock->release(lock->mutex);
  AllLocks().mutex.unlock();
}

void AfterForkInChild() {
  g_is_forked_child.store(true);
  std::vector<fork_detail::Lock>& locks = AllLocks().locks;
  for (auto lock = locks.rbegin(); lock != locks.rend(); ++lock) {
    if (lock->in_child) lock->in_child();
    lock->renew(lock->mutex);
  }
  AllLocks().mutex.unlock();
}

}  // namespace

bool IsForkedChild() { return g_is_forked_child.load(std::memory_order_relaxed); }

namespace fork_detail {

void Register(Lock lock) {
  std::lock_guard guard(AllLocks().mutex);
  std::vector<Lock>& locks = AllLocks().locks;
  const auto behind =
      std::upper_bound(locks.begin(), locks.end(), lock.order,
                       [](int order, const Lock& registered) { return order < registered.order; });
  locks.insert(behind, std::move(lock));
}

void Unregister(const void* mutex) {
  std::lock_guard guard(AllLocks().mutex);
  std::erase_if(AllLocks().locks, [&](const Lock& lock) { return lock.mutex == mutex; });
}

}  // namespace fork_detail
}  // namespace sfmla
