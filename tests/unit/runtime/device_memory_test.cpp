// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "runtime/allocator.h"
#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

constexpr int32_t kCode = 507015;
constexpr size_t kBytes = 100;

char* AllocateDevice(size_t bytes) {
  Result<void*> memory = Allocate(MemoryKind::kDevice, bytes);
  REQUIRE(memory.ok());
  return static_cast<char*>(memory.value());
}

}  // namespace

TEST_CASE("an allocation is found by any address inside, not behind") {
  char* memory = AllocateDevice(kBytes);
  for (const size_t offset : {size_t{0}, kBytes - 1}) {
    const std::optional<Allocation> found = FindAllocation(memory + offset);
    REQUIRE(found.has_value());
    CHECK(found->begin == reinterpret_cast<uintptr_t>(memory));
    CHECK(found->bytes == kBytes);
    CHECK(found->kind == MemoryKind::kDevice);
  }
  CHECK_FALSE(FindAllocation(memory + kBytes).has_value());
  CHECK_FALSE(FindAllocation(nullptr).has_value());
  CHECK(Free(MemoryKind::kDevice, memory).ok());
  CHECK_FALSE(FindAllocation(memory).has_value());
}

TEST_CASE("accessible is what lies in one live allocation, without its slack") {
  char* memory = AllocateDevice(kBytes);
  CHECK(CheckAccessible("q", memory, kBytes, kCode).ok());
  CHECK(CheckAccessible("q", memory + 60, 40, kCode).ok());
  CHECK(CheckAccessible("q", nullptr, 0, kCode).ok());
  const Status beyond = CheckAccessible("q", memory + 60, 41, kCode);
  CHECK(beyond.code() == kCode);
  CHECK(beyond.text().find("q: 41 bytes at ") == 0);
  CHECK(beyond.text().find("allocation of 100 bytes") != std::string::npos);
  CHECK_FALSE(CheckAccessible("q", memory - 1, 2, kCode).ok());
  CHECK_FALSE(CheckAccessible("q", memory, UINT64_MAX, kCode).ok());
  CHECK_FALSE(CheckAccessible("q", nullptr, 1, kCode).ok());
  CHECK(CheckStaysInside("q", memory + 60, 41, kCode).ok());
  CHECK_FALSE(CheckStaysInside("q", memory, 10 * kBytes, kCode).ok());
  CHECK(Free(MemoryKind::kDevice, memory).ok());
  CHECK(CheckAccessible("q", memory, 1, kCode).text().find("no live") != std::string::npos);
}

TEST_CASE("SFMLA_CHECK=off accepts every address") {
  CHECK(RunInChild("child: checks off", "SFMLA_CHECK=off") == 0);
}

TEST_CASE("child: checks off" * doctest::skip()) {
  int local = 0;
  CHECK(CheckAccessible("q", &local, sizeof(local), kCode).ok());
  char* memory = AllocateDevice(kBytes);
  CHECK(CheckStaysInside("q", memory, 10 * kBytes, kCode).ok());
  CHECK(Free(MemoryKind::kDevice, memory).ok());
}

TEST_CASE("threads allocate, look up and free at the same time") {
  std::atomic<int> misses{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Result<void*> memory = Allocate(MemoryKind::kDevice, kBytes);
        if (!memory.ok() || !CheckAccessible("q", memory.value(), kBytes, kCode).ok()) ++misses;
        if (!Free(MemoryKind::kDevice, memory.value()).ok()) ++misses;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(misses == 0);
}

}  // namespace sfmla::test
