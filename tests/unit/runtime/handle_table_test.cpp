// SPDX-License-Identifier: Apache-2.0
#include "runtime/handle_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace sfmla {
namespace {

HandleTable<int>& Numbers() {
  static HandleTable<int> table(HandleKind::kIntArray);
  return table;
}

}  // namespace

TEST_CASE("a handle finds its object until it is removed, also after its slot is used again") {
  void* first = Numbers().Insert(std::make_shared<int>(1));
  REQUIRE(Numbers().Find(first) != nullptr);
  CHECK(*Numbers().Find(first) == 1);
  CHECK(*Numbers().Remove(first) == 1);
  void* second = Numbers().Insert(std::make_shared<int>(2));
  CHECK(second != first);
  CHECK(Numbers().Find(first) == nullptr);
  CHECK(Numbers().Remove(first) == nullptr);
  CHECK(*Numbers().Find(second) == 2);
  CHECK(DescribeMiss(HandleKind::kIntArray, first) == "destroyed");
  Numbers().Remove(second);
}

TEST_CASE("handles of another kind, addresses and NULL are not found") {
  HandleTable<int> streams(HandleKind::kStream);
  void* stream = streams.Insert(std::make_shared<int>(3));
  int local = 0;
  CHECK(Numbers().Find(stream) == nullptr);
  CHECK(Numbers().Find(&local) == nullptr);
  CHECK(Numbers().Find(nullptr) == nullptr);
  CHECK(DescribeMiss(HandleKind::kIntArray, stream) == "a stream, not an int array");
  CHECK(DescribeMiss(HandleKind::kStream, &local) == "not a stream");
}

TEST_CASE("a handle is no address on x86-64 (canonical) and AArch64 (top byte ignored)") {
  const auto bits = reinterpret_cast<uintptr_t>(PackHandle(HandleKind::kTensor, 1, 0));
  const uint64_t top_byte = bits >> 56;
  CHECK(top_byte != 0x00);
  CHECK(top_byte != 0xFF);
  const bool below_top_byte = (bits >> 52 & 0xF) != 0;
  CHECK(below_top_byte);
}

TEST_CASE("a handle keeps the largest generation and slot") {
  uint32_t generation = 0;
  uint32_t slot = 0;
  void* handle = PackHandle(HandleKind::kEvent, kMaxHandleGeneration, kMaxHandleSlots - 1);
  REQUIRE(UnpackHandle(HandleKind::kEvent, handle, &generation, &slot));
  CHECK(generation == kMaxHandleGeneration);
  CHECK(slot == kMaxHandleSlots - 1);
}

TEST_CASE("RemoveIf ends the handles of what it accepts only") {
  HandleTable<int> table(HandleKind::kEvent);
  void* one = table.Insert(std::make_shared<int>(1));
  void* two = table.Insert(std::make_shared<int>(2));
  const auto removed = table.RemoveIf([](int value) { return value == 1; });
  REQUIRE(removed.size() == 1);
  CHECK(*removed[0] == 1);
  CHECK(table.Find(one) == nullptr);
  CHECK(table.Find(two) != nullptr);
  CHECK(table.Select([](int) { return true; }).size() == 1);
}

TEST_CASE("threads insert, find and remove at the same time") {
  HandleTable<int> table(HandleKind::kTensor);
  std::vector<std::thread> threads;
  std::atomic<int> misses{0};
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 1000; ++i) {
        void* handle = table.Insert(std::make_shared<int>(number));
        const std::shared_ptr<int> found = table.Find(handle);
        if (found == nullptr || *found != number) ++misses;
        if (table.Remove(handle) == nullptr) ++misses;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(misses == 0);
  CHECK(table.Select([](int) { return true; }).empty());
}

}  // namespace sfmla
