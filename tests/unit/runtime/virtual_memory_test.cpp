// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "scale_case.h"

namespace sfmla::test {
namespace {

constexpr size_t kGranule = size_t{2} << 20;

aclrtPhysicalMemProp Properties() {
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  return prop;
}

char* ReserveRange(size_t bytes) {
  void* base = nullptr;
  REQUIRE(aclrtReserveMemAddress(&base, bytes, 0, nullptr, 0) == ACL_SUCCESS);
  CHECK(reinterpret_cast<uintptr_t>(base) % kGranule == 0);
  return static_cast<char*>(base);
}

aclrtDrvMemHandle MallocGranules(size_t count) {
  const aclrtPhysicalMemProp prop = Properties();
  aclrtDrvMemHandle handle = nullptr;
  REQUIRE(aclrtMallocPhysical(&handle, count * kGranule, &prop, 0) == ACL_SUCCESS);
  return handle;
}

}  // namespace

TEST_CASE_FIXTURE(OnDevice, "physical memory keeps its contents wherever it is mapped") {
  char* base = ReserveRange(4 * kGranule);
  aclrtDrvMemHandle memory = MallocGranules(1);
  aclrtPtrAttributes attributes;
  CHECK(aclrtMapMem(base, kGranule, 0, memory, 0) == ACL_SUCCESS);
  CHECK(aclrtPointerGetAttributes(base + kGranule - 1, &attributes) == ACL_SUCCESS);
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
  CHECK(aclrtPointerGetAttributes(base + kGranule, &attributes) == ACL_SUCCESS);
  CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  CHECK(aclrtMemset(base, kGranule, 7, kGranule) == ACL_SUCCESS);
  CHECK(aclrtUnmapMem(base) == ACL_SUCCESS);
  CheckRefusal(aclrtMemset(base, 1, 7, 1), ACL_ERROR_RT_PARAM_INVALID, {"devPtr"});
  CHECK(aclrtMapMem(base + 2 * kGranule, kGranule, 0, memory, 0) == ACL_SUCCESS);
  CHECK(base[3 * kGranule - 1] == 7);
  CHECK(aclrtFreePhysical(memory) == ACL_SUCCESS);
  CHECK(base[2 * kGranule] == 7);
  CHECK(aclrtUnmapMem(base + 2 * kGranule) == ACL_SUCCESS);
  CHECK(aclrtReleaseMemAddress(base) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(ScaleCase, "an operand may reach over mappings without a gap") {
  char* base = ReserveRange(2 * kGranule);
  aclrtDrvMemHandle first = MallocGranules(1);
  aclrtDrvMemHandle second = MallocGranules(1);
  CHECK(aclrtMapMem(base, kGranule, 0, first, 0) == ACL_SUCCESS);
  char* across = base + kGranule - 4;
  CHECK(aclSetRawTensorAddr(in_tensor, across) == ACLNN_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION, {"in", "leave"});
  CHECK(aclrtMapMem(base + kGranule, kGranule, 0, second, 0) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(across, 32, in, 32, ACL_MEMCPY_DEVICE_TO_DEVICE) == ACL_SUCCESS);
  CHECK(Run(NewExecutor(MakeLaunch())) == ACLNN_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CheckScaled(in);
  for (char* begin : {base, base + kGranule}) CHECK(aclrtUnmapMem(begin) == ACL_SUCCESS);
  for (aclrtDrvMemHandle handle : {first, second}) CHECK(aclrtFreePhysical(handle) == ACL_SUCCESS);
  CHECK(aclrtReleaseMemAddress(base) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "physical memory is part of the budget until its last use ends") {
  size_t before = 0;
  size_t now = 0;
  size_t total = 0;
  char* base = ReserveRange(kGranule);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total) == ACL_SUCCESS);
  aclrtDrvMemHandle memory = MallocGranules(1);
  CHECK(aclrtMapMem(base, kGranule, 0, memory, 0) == ACL_SUCCESS);
  CHECK(aclrtFreePhysical(memory) == ACL_SUCCESS);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &now, &total) == ACL_SUCCESS);
  CHECK(before - now == kGranule);
  CHECK(aclrtUnmapMem(base) == ACL_SUCCESS);
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &now, &total) == ACL_SUCCESS);
  CHECK(before == now);
  CHECK(aclrtReleaseMemAddress(base) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "what does not fit the address space is refused") {
  aclrtPhysicalMemProp prop = Properties();
  aclrtDrvMemHandle handle = nullptr;
  void* reserved = nullptr;
  size_t granularity = 0;
  CHECK(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                         &granularity) == ACL_SUCCESS);
  CHECK(granularity == kGranule);
  CheckRefusal(aclrtReserveMemAddress(&reserved, 100, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM,
               {"size", "100"});
  CheckRefusal(aclrtReserveMemAddress(&reserved, kGranule, 64, nullptr, 0), ACL_ERROR_INVALID_PARAM,
               {"alignment", "64"});
  CheckRefusal(aclrtMallocPhysical(&handle, 1, &prop, 0), ACL_ERROR_INVALID_PARAM, {"size"});
  CheckRefusal(aclrtMallocPhysical(&handle, size_t{1} << 60, &prop, 0),
               ACL_ERROR_RT_MEMORY_ALLOCATION, {"size", "free"});
  prop.memAttr = ACL_DDR_MEM;
  CheckRefusal(aclrtMallocPhysical(&handle, kGranule, &prop, 0), ACL_ERROR_INVALID_PARAM,
               {"memAttr"});
  prop = Properties();
  prop.location.id = 5;
  CheckRefusal(aclrtMallocPhysical(&handle, kGranule, &prop, 0), ACL_ERROR_RT_INVALID_DEVICEID,
               {"location", "5"});

  char* base = ReserveRange(2 * kGranule);
  handle = MallocGranules(1);
  constexpr int32_t kRefused = ACL_ERROR_RT_PARAM_INVALID;
  CheckRefusal(aclrtMapMem(base, 2 * kGranule, 0, handle, 0), kRefused, {"size"});
  CheckRefusal(aclrtMapMem(base + 2 * kGranule, kGranule, 0, handle, 0), kRefused, {"reserved"});
  CheckRefusal(aclrtMapMem(base, kGranule, 0, base, 0), kRefused, {"handle"});
  CHECK(aclrtMapMem(base, kGranule, 0, handle, 0) == ACL_SUCCESS);
  CheckRefusal(aclrtMapMem(base, kGranule, 0, handle, 0), kRefused, {"overlap"});
  CheckRefusal(aclrtReleaseMemAddress(base), kRefused, {"unmap"});
  CheckRefusal(aclrtFree(base), kRefused, {"mapped memory"});
  CheckRefusal(aclrtUnmapMem(base + kGranule), kRefused, {"virPtr"});
  CHECK(aclrtUnmapMem(base) == ACL_SUCCESS);
  CHECK(aclrtReleaseMemAddress(base) == ACL_SUCCESS);
  CheckRefusal(aclrtReleaseMemAddress(base), kRefused, {"virPtr"});
  CHECK(aclrtFreePhysical(handle) == ACL_SUCCESS);
  CheckRefusal(aclrtFreePhysical(handle), kRefused, {"handle", "destroyed"});
}

}  // namespace sfmla::test
