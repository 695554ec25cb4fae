// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

void* Malloc(size_t bytes) {
  void* memory = nullptr;
  REQUIRE(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  return memory;
}

aclrtMemLocationType LocationOf(const void* pointer) {
  aclrtPtrAttributes attributes;
  REQUIRE(aclrtPointerGetAttributes(pointer, &attributes) == ACL_SUCCESS);
  return attributes.location.type;
}

int64_t ResidentBytes() {
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

// Whether the system was asked for huge pages at an address: "hg" among the flags of its mapping.
bool HugePagesWanted(const void* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  std::ifstream smaps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) {
      is_inside = begin <= address && address < end;
    }
    if (is_inside && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(OnDevice, "HUGE policies ask for huge pages, as far as the system has them") {
  const bool has_them = std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
  struct Row {
    aclrtMemMallocPolicy policy;
    size_t bytes;
    bool wanted;
  };
  const Row rows[] = {
      {ACL_MEM_MALLOC_HUGE_FIRST, 4 << 20, true},
      {ACL_MEM_MALLOC_HUGE_ONLY_P2P, 4 << 20, true},
      {ACL_MEM_MALLOC_HUGE_FIRST, 2 << 20, true},
      {ACL_MEM_MALLOC_HUGE_FIRST, (2 << 20) - 1, false},
      {ACL_MEM_MALLOC_NORMAL_ONLY, 4 << 20, false},
      {ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 4 << 20, false},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.policy));
    CAPTURE(row.bytes);
    void* memory = nullptr;
    REQUIRE(aclrtMalloc(&memory, row.bytes, row.policy) == ACL_SUCCESS);
    CHECK(HugePagesWanted(memory) == (row.wanted && has_them));
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
  }
}

TEST_CASE("memory needs a context, freeing it does not") {
  void* memory = nullptr;
  std::thread([&] {
    CheckRefusal(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL,
                 {"context"});
    CheckRefusal(aclrtMallocHost(&memory, 64), ACL_ERROR_RT_CONTEXT_NULL, {"context"});
  }).join();
  {
    OnDevice device;
    memory = Malloc(64);
  }
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "allocations are aligned, with slack, and freed once") {
  for (const size_t bytes : {size_t{1}, size_t{33}, size_t{512}, size_t{3} << 20}) {
    auto* memory = static_cast<char*>(Malloc(bytes));
    CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
    std::memset(memory, 1, (bytes + 31) / 32 * 32 + 32);
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    CheckRefusal(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID, {"devPtr"});
  }
}

TEST_CASE_FIXTURE(OnDevice, "bad arguments of allocation and freeing") {
  void* memory = nullptr;
  int local = 0;
  CheckRefusal(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM,
               {"EH0008", "devPtr"});
  CheckRefusal(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM,
               {"size"});
  CheckRefusal(aclrtMalloc(&memory, SIZE_MAX - 1, ACL_MEM_MALLOC_HUGE_FIRST),
               ACL_ERROR_INVALID_PARAM, {"size"});
  CheckRefusal(aclrtMalloc(&memory, 64, static_cast<aclrtMemMallocPolicy>(99)),
               ACL_ERROR_INVALID_PARAM, {"policy", "99"});
  CheckRefusal(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM, {"devPtr"});
  CheckRefusal(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID, {"devPtr", "no live allocation"});
  auto* device = static_cast<char*>(Malloc(64));
  CheckRefusal(aclrtFree(device + 8), ACL_ERROR_RT_PARAM_INVALID, {"devPtr", "inside"});
  CheckRefusal(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID, {"hostPtr", "device memory"});
  CHECK(aclrtFree(device) == ACL_SUCCESS);
  CHECK(aclrtMallocHost(&memory, 64) == ACL_SUCCESS);
  CheckRefusal(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID, {"devPtr", "pinned"});
  CHECK(aclrtFreeHost(memory) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "the budget is reported, charged and refused beyond") {
  CHECK(RunInChild("child: budget", "SFMLA_DEVICE_MEMORY=8M") == 0);
}

TEST_CASE("child: budget" * doctest::skip()) {
  OnDevice device;
  constexpr size_t kTotal = size_t{8} << 20;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes) == ACL_SUCCESS);
  CHECK(free_bytes == kTotal);
  CHECK(total_bytes == kTotal);
  void* memory = Malloc(kTotal - 100);
  CHECK(aclrtGetMemInfo(ACL_DDR_MEM, &free_bytes, &total_bytes) == ACL_SUCCESS);
  CHECK(free_bytes == 100);
  void* more = nullptr;
  CheckRefusal(aclrtMalloc(&more, 101, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION,
               {"size", "101", "100 free"});
  CHECK(more == nullptr);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
  more = Malloc(kTotal);
  CHECK(aclrtFree(more) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "memory that is never written costs nothing") {
  CHECK(RunInChild("child: large allocation", "SFMLA_DEVICE_MEMORY=64G") == 0);
}

TEST_CASE("child: large allocation" * doctest::skip()) {
  OnDevice device;
  const int64_t before = ResidentBytes();
  constexpr size_t kBytes = size_t{16} << 30;
  auto* memory = static_cast<char*>(Malloc(kBytes));
  memory[0] = 1;
  memory[kBytes - 1] = 1;
  CHECK(ResidentBytes() - before < int64_t{64} << 20);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "copies go both ways and within the device") {
  const std::array<char, 6> sent = {"hello"};
  std::array<char, 6> received = {};
  void* first = Malloc(sent.size());
  void* second = Malloc(sent.size());
  CHECK(aclrtMemcpy(first, 6, sent.data(), 6, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(second, 6, first, 6, ACL_MEMCPY_DEVICE_TO_DEVICE) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(received.data(), 6, second, 6, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  CHECK(received == sent);
  CHECK(aclrtMemset(second, 6, 0x1FF, 6) == ACL_SUCCESS);
  CHECK(static_cast<unsigned char*>(second)[5] == 0xFF);
  CHECK(aclrtFree(first) == ACL_SUCCESS);
  CHECK(aclrtFree(second) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "bad arguments of copies change nothing") {
  char host[8] = {};
  auto* device = static_cast<char*>(Malloc(8));
  device[0] = 42;
  const auto to_device = ACL_MEMCPY_HOST_TO_DEVICE;
  CheckRefusal(aclrtMemcpy(device, 4, host, 8, to_device), ACL_ERROR_RT_PARAM_INVALID,
               {"destMax", "4", "8"});
  CheckRefusal(aclrtMemcpy(device, 8, nullptr, 8, to_device), ACL_ERROR_INVALID_PARAM, {"src"});
  CheckRefusal(aclrtMemcpy(nullptr, 8, host, 8, to_device), ACL_ERROR_INVALID_PARAM, {"dst"});
  CHECK(aclrtMemcpy(device, 8, nullptr, 0, to_device) == ACL_SUCCESS);
  for (const int kind : {-1, 6, 7, 8}) {
    CheckRefusal(aclrtMemcpy(device, 8, host, 8, static_cast<aclrtMemcpyKind>(kind)),
                 ACL_ERROR_INVALID_PARAM, {"kind"});
  }
  CheckRefusal(aclrtMemcpy(device, 1000, host, 1000, to_device), ACL_ERROR_RT_PARAM_INVALID,
               {"dst", "leave"});
  CheckRefusal(aclrtMemset(device, 4, 0, 8), ACL_ERROR_RT_PARAM_INVALID, {"count", "maxCount"});
  CheckRefusal(aclrtMemset(nullptr, 4, 0, 4), ACL_ERROR_INVALID_PARAM, {"devPtr"});
  CHECK(device[0] == 42);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
  CheckRefusal(aclrtMemcpy(device, 8, host, 8, to_device), ACL_ERROR_RT_PARAM_INVALID, {"dst"});
  CheckRefusal(aclrtMemset(device, 8, 0, 8), ACL_ERROR_RT_PARAM_INVALID, {"devPtr"});
}

TEST_CASE_FIXTURE(OnDevice,
                  "an asynchronous copy of pinned memory does not wait, of pageable does") {
  OwnedStream stream;
  Gate gate;
  int pageable = 7;
  void* pinned = nullptr;
  REQUIRE(aclrtMallocHost(&pinned, sizeof(int)) == ACL_SUCCESS);
  auto* device = static_cast<int*>(Malloc(sizeof(int)));
  *static_cast<int*>(pinned) = 5;
  gate.Block(stream.handle);
  CHECK(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle) == 0);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  CHECK(aclrtStreamQuery(stream.handle, &status) == ACL_SUCCESS);
  CHECK(status == ACL_STREAM_STATUS_NOT_READY);
  std::thread opener([&] { gate.Open(); });
  CHECK(aclrtMemcpyAsync(&pageable, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream.handle) == 0);
  CHECK(pageable == 5);
  opener.join();
  CheckRefusal(aclrtMemcpyAsync(&pageable, 4, &pageable, 4, ACL_MEMCPY_HOST_TO_HOST, stream.handle),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT, {"kind"});
  CHECK(aclrtMemsetAsync(device, 4, 0, 4, stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(*device == 0);
  CHECK(aclrtFreeHost(pinned) == ACL_SUCCESS);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "memory freed under a queued copy is an error of the stream") {
  OwnedStream stream;
  Gate gate;
  void* from = Malloc(64);
  void* to = Malloc(64);
  gate.Block(stream.handle);
  CHECK(aclrtMemcpyAsync(to, 64, from, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.handle) == 0);
  CHECK(aclrtFree(from) == ACL_SUCCESS);
  gate.Open();
  CheckRefusal(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_AICORE_EXCEPTION,
               {"aclrtMemcpyAsync", "src"});
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtFree(to) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "registered host memory counts as pinned while it is registered") {
  std::vector<char> host(4096);
  void* device = nullptr;
  CHECK(LocationOf(host.data()) == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  CHECK(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED) == ACL_SUCCESS);
  CHECK(LocationOf(host.data() + 4095) == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(LocationOf(host.data() + 4096) == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  CHECK(aclrtHostGetDevicePointer(host.data() + 1, &device, 0) == ACL_SUCCESS);
  CHECK(device == host.data() + 1);
  CheckRefusal(aclrtHostRegisterV2(host.data() + 100, 8, 0),
               ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, {"ptr"});
  CheckRefusal(aclrtHostUnregister(host.data() + 1), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, {"ptr"});
  CheckRefusal(aclrtFreeHost(host.data()), ACL_ERROR_RT_PARAM_INVALID, {"registered"});
  CHECK(aclrtHostUnregister(host.data()) == ACL_SUCCESS);
  CheckRefusal(aclrtHostUnregister(host.data()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, {"ptr"});
  CheckRefusal(aclrtHostGetDevicePointer(host.data(), &device, 0),
               ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, {"pHost"});
  CHECK(aclrtHostRegister(host.data(), 8, ACL_HOST_REGISTER_MAPPED, &device) == ACL_SUCCESS);
  CHECK(device == host.data());
  CHECK(aclrtHostUnregister(host.data()) == ACL_SUCCESS);
  CheckRefusal(aclrtHostRegisterV2(host.data(), 8, 0x100), ACL_ERROR_INVALID_PARAM, {"flag"});
  CheckRefusal(aclrtHostRegisterV2(host.data(), 8, ACL_HOST_REG_IOMEMORY),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT, {"flag"});
}

TEST_CASE_FIXTURE(OnDevice, "a registered range does not bound copies of the caller's memory") {
  OwnedStream stream;
  Gate gate;
  std::vector<char> host(4096, 7);
  auto* device = static_cast<char*>(Malloc(4096));
  CHECK(aclrtHostRegisterV2(host.data() + 1024, 1024, 0) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(device, 4096, host.data() + 1100, 2000, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
  CHECK(device[1999] == 7);
  // Part of it is pageable, so the call waits and the memory may change at once.
  gate.Block(stream.handle);
  std::thread opener([&] { gate.Open(); });
  CHECK(aclrtMemcpyAsync(device, 4096, host.data() + 1100, 2000, ACL_MEMCPY_HOST_TO_DEVICE,
                         stream.handle) == ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  CHECK(aclrtStreamQuery(stream.handle, &status) == ACL_SUCCESS);
  CHECK(status == ACL_STREAM_STATUS_COMPLETE);
  opener.join();
  CHECK(aclrtHostUnregister(host.data() + 1024) == ACL_SUCCESS);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "a batch of copies is done as a whole or not at all") {
  char host[4] = {1, 2, 3, 4};
  auto* device = static_cast<char*>(Malloc(4));
  CHECK(aclrtMemset(device, 4, 0, 4) == ACL_SUCCESS);
  void* dsts[] = {device, device + 2};
  void* srcs[] = {host, host + 2};
  size_t room[] = {4, 2};
  size_t sizes[] = {2, 2};
  size_t begins[] = {0};
  size_t failed = 0;
  aclrtMemcpyBatchAttr attributes[1] = {};
  const auto batch = [&] {
    return aclrtMemcpyBatch(dsts, room, srcs, sizes, 2, attributes, begins, 1, &failed);
  };
  sizes[1] = 3;
  CheckRefusal(batch(), ACL_ERROR_RT_PARAM_INVALID, {"entry 1", "destMax"});
  CHECK(failed == 1);
  CHECK(device[0] == 0);
  sizes[1] = 2;
  CHECK(batch() == ACL_SUCCESS);
  CHECK(failed == SIZE_MAX);
  CHECK(std::memcmp(device, host, 4) == 0);
  begins[0] = 1;
  CheckRefusal(batch(), ACL_ERROR_INVALID_PARAM, {"attrsIndexes[0]", "1"});
  begins[0] = 0;
  host[0] = 9;
  OwnedStream stream;
  CHECK(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 2, attributes, begins, 1, &failed,
                              stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(device[0] == 9);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "addresses are told apart") {
  void* device = Malloc(64);
  void* pinned = nullptr;
  REQUIRE(aclrtMallocHost(&pinned, 64) == ACL_SUCCESS);
  CHECK(LocationOf(device) == ACL_MEM_LOCATION_TYPE_DEVICE);
  CHECK(LocationOf(pinned) == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
  CHECK(aclrtFreeHost(pinned) == ACL_SUCCESS);
}

}  // namespace sfmla::test
