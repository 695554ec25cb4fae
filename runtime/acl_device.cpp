// SPDX-License-Identifier: Apache-2.0
// C functions: devices.
#include <iterator>

#include "acl/acl_rt.h"
#include "runtime/api_guard.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/refusals.h"

using namespace sfmla;

namespace {

Status CheckPeer(int32_t device, int32_t peer) {
  if (device == peer) {
    return Status(ACL_ERROR_INVALID_PARAM,
                  Str("peerDeviceId: ", peer, ", must differ from the device itself"));
  }
  SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", device));
  return CheckDevice("peerDeviceId", peer);
}

Status CheckPeerOfCurrent(int32_t peer) {
  const Result<std::shared_ptr<Context>> current = CurrentContext();
  if (!current.ok()) return current.status();
  return CheckPeer(current.value()->device, peer);
}

Result<aclrtDevAttr> AttributeOf(aclDeviceInfo info) {
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      return ACL_DEV_ATTR_AICORE_CORE_NUM;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      return ACL_DEV_ATTR_VECTOR_CORE_NUM;
    case ACL_DEVICE_INFO_L2_SIZE:
      return ACL_DEV_ATTR_L2_CACHE_SIZE;
    case ACL_DEVICE_INFO_UNDEFINED:
      break;
  }
  return Status(ACL_ERROR_INVALID_PARAM,
                Str("deviceInfo: ", static_cast<int>(info), ", must be an aclDeviceInfo"));
}

}  // namespace

aclError aclrtGetDeviceCount(uint32_t* count) {
  return AclCall("aclrtGetDeviceCount", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("count", count));
    *count = static_cast<uint32_t>(VisibleDeviceCount());
    return Status::Ok();
  });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return AclCall("aclrtSetDevice", [&] { return SetDevice(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return AclCall("aclrtResetDevice", [&] { return ResetDevice(deviceId, ResetCount::kOne); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return AclCall("aclrtResetDeviceForce", [&] { return ResetDevice(deviceId, ResetCount::kAll); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return AclCall("aclrtGetDevice", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("deviceId", deviceId));
    const Result<std::shared_ptr<Context>> current = CurrentContext();
    if (current.ok()) *deviceId = current.value()->device;
    return current.status();
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return AclCall("aclrtGetRunMode", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("runMode", runMode));
    *runMode = ACL_HOST;
    return Status::Ok();
  });
}

aclError aclrtSynchronizeDevice() {
  return AclCall("aclrtSynchronizeDevice", [] { return SynchronizeCurrentDevice(Deadline()); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return AclCall("aclrtSynchronizeDeviceWithTimeout", [&] {
    const Result<Deadline> deadline = DeadlineAfter(timeout);
    return deadline.ok() ? SynchronizeCurrentDevice(deadline.value()) : deadline.status();
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return AclCall("aclrtGetDeviceInfo", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("value", value));
    SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", deviceId));
    const Result<int64_t> fact = DeviceFact(static_cast<int32_t>(deviceId), attr);
    if (fact.ok()) *value = fact.value();
    return fact.status();
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return AclCall("aclGetDeviceCapability", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("value", value));
    SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", deviceId));
    const Result<aclrtDevAttr> attribute = AttributeOf(deviceInfo);
    if (!attribute.ok()) return attribute.status();
    const Result<int64_t> fact = DeviceFact(static_cast<int32_t>(deviceId), attribute.value());
    if (fact.ok()) *value = fact.value();
    return fact.status();
  });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return AclCall("aclGetCannAttributeList", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("cannAttrList", cannAttrList));
    SFMLA_RETURN_IF_ERROR(RequirePointer("num", num));
    static constexpr aclCannAttr kAll[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                           ACL_CANN_ATTR_JIT_COMPILE};
    *cannAttrList = kAll;
    *num = std::size(kAll);
    return Status::Ok();
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return AclCall("aclGetCannAttribute", [&]() -> Status {
    SFMLA_RETURN_IF_ERROR(RequirePointer("value", value));
    if (cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
      return Status(ACL_ERROR_INVALID_PARAM, Str("cannAttr: ", static_cast<int>(cannAttr),
                                                 ", must be one of aclGetCannAttributeList"));
    }
    *value = cannAttr == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1;
    return Status::Ok();
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return AclCall("aclrtSetDeviceResLimit", [&] { return SetCoreLimit(deviceId, type, value); });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return AclCall("aclrtGetDeviceResLimit", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("value", value));
    const Result<uint32_t> limit = CoreLimit(deviceId, type);
    if (limit.ok()) *value = limit.value();
    return limit.status();
  });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return AclCall("aclrtDeviceCanAccessPeer", [&] {
    SFMLA_RETURN_IF_ERROR(RequirePointer("canAccessPeer", canAccessPeer));
    SFMLA_RETURN_IF_ERROR(CheckPeer(deviceId, peerDeviceId));
    *canAccessPeer = 1;
    return Status::Ok();
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return AclCall("aclrtDeviceEnablePeerAccess", [&]() -> Status {
    if (flags != 0) {
      return Status(ACL_ERROR_FEATURE_UNSUPPORTED, Str("flags: ", flags, ", must be 0"));
    }
    return CheckPeerOfCurrent(peerDeviceId);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return AclCall("aclrtDeviceDisablePeerAccess", [&] { return CheckPeerOfCurrent(peerDeviceId); });
}
