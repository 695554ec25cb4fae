// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/format.h"
#include "base/settings.h"

namespace sfmla {
namespace {

constexpr int32_t kNoLimit = INT32_MAX;

struct CoreLimits {
  std::atomic<int32_t> cube{kNoLimit};
  std::atomic<int32_t> vector{kNoLimit};
};

std::array<CoreLimits, kDeviceCount> g_limits;

struct LimitedResource {
  std::atomic<int32_t>* limit;
  int32_t cores;  // of the device
};

Result<LimitedResource> FindResource(int32_t device, aclrtDevResLimitType type) {
  SFMLA_RETURN_IF_ERROR(CheckDevice("deviceId", device));
  CoreLimits& limits = g_limits[static_cast<size_t>(device)];
  switch (type) {
    case ACL_RT_DEV_RES_CUBE_CORE:
      return LimitedResource{&limits.cube, CurrentSoc().cube_cores};
    case ACL_RT_DEV_RES_VECTOR_CORE:
      return LimitedResource{&limits.vector, CurrentSoc().vector_cores};
  }
  return Status(ACL_ERROR_INVALID_PARAM,
                Str("type: ", static_cast<int>(type),
                    ", must be ACL_RT_DEV_RES_CUBE_CORE or ACL_RT_DEV_RES_VECTOR_CORE"));
}

SocTraits SocOfProcess() {
  if (CurrentDeviceKind() == DeviceKind::kCpu) return kHostCpu;
  SocTraits soc = kAscend910b;
  soc.cube_cores = ProcessSettings()->emulator.cores;
  soc.vector_cores = 2 * soc.cube_cores;
  return soc;
}

int64_t LastLevelCacheBytes() {
  const long l3_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return l3_bytes > 0 ? l3_bytes : sysconf(_SC_LEVEL2_CACHE_SIZE);
}

}  // namespace

DeviceKind CurrentDeviceKind() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() ? settings->device : DeviceKind::kCpu;
}

const SocTraits& CurrentSoc() {
  // Not a static of the function's own making: that would stay half made in a child that another
  // thread forks meanwhile, where call_once starts anew.
  static std::once_flag once;
  static SocTraits soc{};
  std::call_once(once, [] { soc = SocOfProcess(); });
  return soc;
}

CoreCounts PlanningCores() {
  const SocTraits& soc = CurrentSoc();
  return {std::min(g_limits[0].cube.load(), soc.cube_cores),
          std::min(g_limits[0].vector.load(), soc.vector_cores)};
}

int32_t VisibleDeviceCount() {
  const Result<Settings>& settings = ProcessSettings();
  return settings.ok() && !settings->device_is_visible ? 0 : kDeviceCount;
}

Status CheckDevice(const char* name, int64_t device) {
  const int32_t count = VisibleDeviceCount();
  if (device >= 0 && device < count) return Status::Ok();
  const char* why =
      count == 0 ? ", the environment variable ASCEND_RT_VISIBLE_DEVICES hides device 0" : "";
  return Status(ACL_ERROR_RT_INVALID_DEVICEID,
                Str(name, ": ", device, ", must be in [0, ", count, ")", why));
}

Status SetCoreLimit(int32_t device, aclrtDevResLimitType type, uint32_t cores) {
  const Result<LimitedResource> resource = FindResource(device, type);
  if (!resource.ok()) return resource.status();
  const int32_t most = resource.value().cores;
  if (cores == 0 || cores > static_cast<uint32_t>(most)) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Str("value: ", cores, ", must be from 1 to ", most, " cores"));
  }
  resource.value().limit->store(static_cast<int32_t>(cores));
  return Status::Ok();
}

Result<uint32_t> CoreLimit(int32_t device, aclrtDevResLimitType type) {
  const Result<LimitedResource> resource = FindResource(device, type);
  if (!resource.ok()) return resource.status();
  return static_cast<uint32_t>(std::min(resource.value().limit->load(), resource.value().cores));
}

void ClearCoreLimits(int32_t device) {
  CoreLimits& limits = g_limits[static_cast<size_t>(device)];
  limits.cube.store(kNoLimit);
  limits.vector.store(kNoLimit);
}

Result<int64_t> DeviceFact(int32_t device, aclrtDevAttr attribute) {
  const Result<Settings>& settings = ProcessSettings();
  if (!settings.ok()) return settings.status();
  switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      return int64_t{settings->num_threads};
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      return int64_t{CurrentSoc().cube_cores};
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      return int64_t{CurrentSoc().vector_cores};
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      return static_cast<int64_t>(settings->device_memory_bytes);
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      return LastLevelCacheBytes();
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      return int64_t{device};
    case ACL_DEV_ATTR_IS_VIRTUAL:
      return int64_t{0};
    case ACL_DEV_ATTR_WARP_SIZE:
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_NPU_ARCH:
      break;
  }
  return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                Str("attr: ", static_cast<int>(attribute), ": the device ", CurrentSoc().soc_name,
                    " has no such fact"));
}

}  // namespace sfmla
