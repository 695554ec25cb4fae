// SPDX-License-Identifier: Apache-2.0
// Devices and contexts.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/settings.h"
#include "runtime/device.h"
#include "runtime_fixture.h"

namespace sfmla::test {

TEST_CASE("there is one device, and asking for it needs no context") {
  std::thread([] {
    uint32_t count = 0;
    aclrtRunMode mode = ACL_DEVICE;
    int32_t device = -1;
    CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
    CHECK(count == 1);
    CHECK(aclrtGetRunMode(&mode) == ACL_SUCCESS);
    CHECK(mode == ACL_HOST);
    CheckRefusal(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, {"context"});
    CheckRefusal(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM, {"count"});
  }).join();
}

TEST_CASE("device numbers that do not exist are refused with the range") {
  for (const char* number : {"99", "-1"}) {
    CheckRefusal(aclrtSetDevice(std::stoi(number)), ACL_ERROR_RT_INVALID_DEVICEID,
                 {"deviceId", number, "[0, 1)"});
  }
  aclrtContext context = nullptr;
  CheckRefusal(aclrtCreateContext(&context, 4), ACL_ERROR_RT_INVALID_DEVICEID, {"deviceId", "4"});
  CheckRefusal(aclrtResetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID, {"deviceId", "2"});
}

TEST_CASE("the environment can hide the device") {
  CHECK(RunInChild("child: hidden device", "ASCEND_RT_VISIBLE_DEVICES=3") == 0);
}

TEST_CASE("child: hidden device" * doctest::skip()) {
  uint32_t count = 7;
  CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
  CHECK(count == 0);
  CheckRefusal(aclrtSetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID, {"ASCEND_RT_VISIBLE_DEVICES"});
}

TEST_CASE("capabilities of the device and of the platform") {
  int64_t value = 0;
  CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value) == ACL_SUCCESS);
  CHECK(value == CurrentSoc().cube_cores);
  CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value) == ACL_SUCCESS);
  CHECK(value == CurrentSoc().vector_cores);
  CheckRefusal(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(9), &value),
               ACL_ERROR_INVALID_PARAM, {"deviceInfo", "9"});
  const aclCannAttr* attributes = nullptr;
  size_t count = 0;
  CHECK(aclGetCannAttributeList(&attributes, &count) == ACL_SUCCESS);
  REQUIRE(count == 3);
  for (size_t i = 0; i < count; ++i) {
    int32_t answer = -1;
    CHECK(aclGetCannAttribute(attributes[i], &answer) == ACL_SUCCESS);
    CHECK(answer == (attributes[i] == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1));
  }
  int32_t answer = 0;
  CheckRefusal(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &answer), ACL_ERROR_INVALID_PARAM,
               {"cannAttr"});
}

TEST_CASE("aclrtSetDevice is counted over all threads") {
  aclrtStream stream = nullptr;
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  std::thread([] { CHECK(aclrtSetDevice(0) == ACL_SUCCESS); }).join();
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CheckRefusal(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID, {"stream"});
  CheckRefusal(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL, {"destroyed"});
  CheckRefusal(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_NULL, {"context"});
  CheckRefusal(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_NULL, {"context"});
}

TEST_CASE("a reset by force ends it whatever the count, and a new start is fresh") {
  aclrtContext first = nullptr;
  aclrtContext second = nullptr;
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(aclrtGetCurrentContext(&first) == ACL_SUCCESS);
  CHECK(aclrtResetDeviceForce(0) == ACL_SUCCESS);
  OnDevice device;
  CHECK(aclrtGetCurrentContext(&second) == ACL_SUCCESS);
  CHECK(first != second);
  CheckRefusal(aclrtSetCurrentContext(first), ACL_ERROR_RT_CONTEXT_NULL, {"context", "destroyed"});
}

TEST_CASE("a reset waits for queued work") {
  std::atomic<bool> done{false};
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  const auto work = [](void* flag) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    static_cast<std::atomic<bool>*>(flag)->store(true);
  };
  CHECK(aclrtLaunchHostFunc(nullptr, work, &done) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(done);
}

TEST_CASE_FIXTURE(OnDevice, "an explicit context has its own default stream and ends on its own") {
  aclrtContext primary = nullptr;
  aclrtContext context = nullptr;
  aclrtContext current = nullptr;
  aclrtStream primary_stream = nullptr;
  aclrtStream own_stream = nullptr;
  CHECK(aclrtGetCurrentContext(&primary) == ACL_SUCCESS);
  CHECK(aclrtCtxGetCurrentDefaultStream(&primary_stream) == ACL_SUCCESS);
  CHECK(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
  CHECK(aclrtGetCurrentContext(&current) == ACL_SUCCESS);
  CHECK(current == context);
  CHECK(aclrtCtxGetCurrentDefaultStream(&own_stream) == ACL_SUCCESS);
  CHECK(own_stream != primary_stream);
  CheckRefusal(aclrtDestroyContext(primary), ACL_ERROR_RT_CONTEXT_NULL, {"primary"});
  CHECK(aclrtDestroyContext(context) == ACL_SUCCESS);
  CheckRefusal(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL, {"context", "destroyed"});
  CheckRefusal(aclrtGetCurrentContext(&current), ACL_ERROR_RT_CONTEXT_NULL, {"destroyed"});
  CheckRefusal(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM, {"context"});
  CheckRefusal(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM, {"context"});
  CHECK(aclrtSetCurrentContext(primary) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "streams and events belong to their context") {
  aclrtContext primary = nullptr;
  aclrtContext context = nullptr;
  OwnedStream stream;
  OwnedEvent event;
  CHECK(aclrtGetCurrentContext(&primary) == ACL_SUCCESS);
  CHECK(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
  aclrtEvent inner = nullptr;
  CHECK(aclrtCreateEvent(&inner) == ACL_SUCCESS);
  CheckRefusal(aclrtRecordEvent(inner, stream.handle), ACL_ERROR_RT_STREAM_CONTEXT,
               {"EE1010", "stream", "context"});
  CheckRefusal(aclrtRecordEvent(event.handle, nullptr), ACL_ERROR_RT_STREAM_CONTEXT,
               {"event", "context"});
  CheckRefusal(aclrtDestroyStream(stream.handle), ACL_ERROR_RT_STREAM_CONTEXT, {"stream"});
  CHECK(aclrtSynchronizeStream(stream.handle) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeEvent(event.handle) == ACL_SUCCESS);
  CHECK(aclrtDestroyContext(context) == ACL_SUCCESS);
  CheckRefusal(aclrtDestroyEvent(inner), ACL_ERROR_RT_PARAM_INVALID, {"event", "destroyed"});
  CHECK(aclrtSetCurrentContext(primary) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "core limits are what planning gets, until the device is reset") {
  uint32_t value = 0;
  CHECK(PlanningCores().cube == CurrentSoc().cube_cores);
  CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 24) == ACL_SUCCESS);
  CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 1) == ACL_SUCCESS);
  CHECK(PlanningCores().cube == 24);
  CHECK(PlanningCores().vector == 1);
  CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value) == ACL_SUCCESS);
  CHECK(value == 24);
  for (const uint32_t cores : {0u, 37u}) {
    CheckRefusal(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, cores),
                 ACL_ERROR_RT_PARAM_INVALID, {"value", "1 to 36"});
  }
  CHECK(aclrtResetDeviceForce(0) == ACL_SUCCESS);
  CHECK(PlanningCores().cube == CurrentSoc().cube_cores);
  CHECK(PlanningCores().vector == CurrentSoc().vector_cores);
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
}

TEST_CASE_FIXTURE(OnDevice, "facts about the device") {
  const auto fact = [](aclrtDevAttr attribute) {
    int64_t value = -1;
    REQUIRE(aclrtGetDeviceInfo(0, attribute, &value) == ACL_SUCCESS);
    return value;
  };
  CHECK(fact(ACL_DEV_ATTR_CUBE_CORE_NUM) == 36);
  CHECK(fact(ACL_DEV_ATTR_VECTOR_CORE_NUM) == 72);
  CHECK(fact(ACL_DEV_ATTR_AICPU_CORE_NUM) == ProcessSettings()->num_threads);
  CHECK(fact(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE) > 0);
  CHECK(fact(ACL_DEV_ATTR_IS_VIRTUAL) == 0);
  int64_t value = 0;
  CheckRefusal(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT, {"attr", "601"});
  CheckRefusal(aclrtGetDeviceInfo(3, ACL_DEV_ATTR_PHY_CHIP_ID, &value),
               ACL_ERROR_RT_INVALID_DEVICEID, {"deviceId", "3"});
}

TEST_CASE_FIXTURE(OnDevice, "there is no peer to reach") {
  int32_t can_access = 0;
  CheckRefusal(aclrtDeviceCanAccessPeer(&can_access, 0, 0), ACL_ERROR_INVALID_PARAM,
               {"peerDeviceId"});
  CheckRefusal(aclrtDeviceCanAccessPeer(&can_access, 0, 1), ACL_ERROR_RT_INVALID_DEVICEID,
               {"peerDeviceId", "1"});
  CheckRefusal(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM, {"peerDeviceId"});
  CheckRefusal(aclrtDeviceEnablePeerAccess(0, 1), ACL_ERROR_FEATURE_UNSUPPORTED, {"flags"});
  CheckRefusal(aclrtDeviceDisablePeerAccess(0), ACL_ERROR_INVALID_PARAM, {"peerDeviceId"});
}

}  // namespace sfmla::test
