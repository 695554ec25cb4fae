// SPDX-License-Identifier: Apache-2.0
// Opaque handles: what the C interface gives out instead of addresses.
//
// A handle is kind + generation + slot, in a bit pattern that no processor accepts as an address.
// Each removal advances the generation of the slot, and a slot whose generations are used up is
// retired, so a destroyed handle never becomes valid again.
//
// Tables are made when the library is loaded, see base/fork.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "runtime/fork_order.h"

namespace sfmla {

enum class HandleKind : uint8_t {
  kTensor = 1,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kTensorList,
  kScalarList,
  kExecutor,
  kContext,
  kStream,
  kEvent,
  kGraph,
  kTaskGroup,
  kPhysicalMemory,
  kDataBuffer,
};

// Whether live objects of the kind end in a forked child.
bool EndsAtFork(HandleKind kind);

inline constexpr uint32_t kMaxHandleSlots = 1u << 24;
inline constexpr uint32_t kMaxHandleGeneration = (1u << 28) - 1;

void* PackHandle(HandleKind kind, uint32_t generation, uint32_t slot);
// False if `handle` does not have the bit pattern of that kind.
bool UnpackHandle(HandleKind kind, const void* handle, uint32_t* generation, uint32_t* slot);

// What a handle that was not found is, for error sentences: "destroyed", "a stream, not a tensor",
// "not a tensor".
std::string DescribeMiss(HandleKind expected, const void* handle);

// Safe from several threads at once. Find costs one uncontended lock.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind)
      : kind_(kind), mutex_(fork_order::kHandles, [this] { EndAtFork(); }) {}

  // Throws std::bad_alloc when all slots are taken.
  void* Insert(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    if (free_slots_.empty()) {
      if (slots_.size() == kMaxHandleSlots) throw std::bad_alloc();
      slots_.emplace_back();
      free_slots_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    }
    const uint32_t index = free_slots_.back();
    free_slots_.pop_back();
    slots_[index].object = std::move(object);
    return PackHandle(kind_, slots_[index].generation, index);
  }

  // nullptr unless `handle` is alive.
  std::shared_ptr<T> Find(const void* handle) const {
    std::lock_guard lock(mutex_);
    const Slot* slot = Locate(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  // Ends the handle and returns what it stood for; nullptr unless it was alive.
  std::shared_ptr<T> Remove(const void* handle) {
    std::lock_guard lock(mutex_);
    const Slot* slot = Locate(handle);
    return slot == nullptr ? nullptr : Release(IndexOf(handle));
  }

  // Number of live objects.
  size_t Count() const {
    std::lock_guard lock(mutex_);
    return slots_.size() - free_slots_.size() - retired_slots_;
  }

  // All live objects that `accept`, which must not use the table.
  template <typename Predicate>
  std::vector<std::shared_ptr<T>> Select(const Predicate& accept) const {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> found;
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr && accept(*slot.object)) found.push_back(slot.object);
    }
    return found;
  }

  // Ends the handles of all objects that `accept`, and returns them.
  template <typename Predicate>
  std::vector<std::shared_ptr<T>> RemoveIf(const Predicate& accept) {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> removed;
    for (uint32_t index = 0; index < slots_.size(); ++index) {
      const std::shared_ptr<T>& object = slots_[index].object;
      if (object != nullptr && accept(*object)) removed.push_back(Release(index));
    }
    return removed;
  }

 private:
  // In the child, with the lock held. Another thread of the parent may have been inside an object,
  // so none is touched again, not even to destroy it.
  void EndAtFork() {
    if (!EndsAtFork(kind_)) return;
    for (uint32_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].object != nullptr) lost_at_fork_.push_back(Release(index));
    }
  }

  struct Slot {
    uint32_t generation = 1;
    std::shared_ptr<T> object;  // nullptr: free
  };

  static uint32_t IndexOf(const void* handle) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle) & (kMaxHandleSlots - 1));
  }

  const Slot* Locate(const void* handle) const {
    uint32_t generation = 0;
    uint32_t index = 0;
    if (!UnpackHandle(kind_, handle, &generation, &index) || index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.object != nullptr && slot.generation == generation ? &slot : nullptr;
  }

  std::shared_ptr<T> Release(uint32_t index) {
    Slot& slot = slots_[index];
    if (slot.generation < kMaxHandleGeneration) {
      free_slots_.push_back(index);
      ++slot.generation;
    } else {
      ++retired_slots_;
    }
    return std::exchange(slot.object, nullptr);
  }

  const HandleKind kind_;
  mutable ForkMutex mutex_;
  std::deque<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  size_t retired_slots_ = 0;
  std::vector<std::shared_ptr<T>> lost_at_fork_;
};

}  // namespace sfmla
