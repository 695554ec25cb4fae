// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/fork.h"
#include "base/format.h"

namespace sfmla {
namespace {

constexpr int kMaxThreads = 1024;

// Never destroyed: kernels may still ask while the process exits. Not a static of the function,
// which would stay half made in a child that is forked meanwhile.
constexpr int kForkOrder = 101;  // behind all locks: settings are read with any of them held
auto& g_settings_mutex = *new ForkMutex(kForkOrder);
std::atomic<const Result<Settings>*> g_settings{nullptr};

Status BadSetting(const char* name, std::string_view found, std::string_view allowed) {
  return Status(code::kAclInvalidParam,
                Str("environment variable ", name, ": '", found, "', must be ", allowed));
}

int AvailableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

uint64_t PhysicalMemoryBytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

// The whole of `text` as a positive decimal number.
std::optional<uint64_t> ParsePositive(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  errno = 0;
  const uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  if (errno != 0 || value == 0) return std::nullopt;
  return value;
}

std::optional<uint64_t> ParseBytes(std::string text) {
  int shift = 0;
  if (!text.empty()) {
    constexpr std::string_view kSuffixes = "KMG";
    const size_t position = kSuffixes.find(text.back());
    if (position != std::string_view::npos) {
      shift = 10 * (static_cast<int>(position) + 1);
      text.pop_back();
    }
  }
  const std::optional<uint64_t> value = ParsePositive(text);
  if (!value || (*value << shift) >> shift != *value) return std::nullopt;
  return *value << shift;
}

Status ReadName(const char* variable, const char* text, std::span<const std::string_view> names,
                std::string* out) {
  std::string allowed;
  for (const std::string_view name : names) {
    if (name == text) {
      *out = text;
      return Status::Ok();
    }
    allowed += Str(allowed.empty() ? "" : ", ", name);
  }
  return BadSetting(variable, text, Str("one of ", allowed));
}

Status ReadCheck(const char* text, Settings* out) {
  const std::string_view value = text;
  if (value == "off") {
    out->check = CheckLevel::kOff;
  } else if (value == "strict") {
    out->check = CheckLevel::kStrict;
  } else if (value != "on") {
    return BadSetting("SFMLA_CHECK", text, "off, on or strict");
  }
  return Status::Ok();
}

Status ReadEmulator(const char* (*get)(const char* name), EmulatorSettings* out) {
  constexpr int kMaxCores = 36;  // records of a plan
  if (const char* text = get("SFMLA_SIM_CORES")) {
    const std::optional<uint64_t> value = ParsePositive(text);
    if (!value || *value > kMaxCores) {
      return BadSetting("SFMLA_SIM_CORES", text, Str("a whole number from 1 to ", kMaxCores));
    }
    out->cores = static_cast<int>(*value);
  }
  if (const char* text = get("SFMLA_SIM_SEED")) {
    const std::optional<uint64_t> value = ParsePositive(text);
    if (!value && std::string_view(text) != "0") {
      return BadSetting("SFMLA_SIM_SEED", text, "a whole number from 0 on");
    }
    out->seed = value.value_or(0);
  }
  if (const char* text = get("SFMLA_SIM_CHECKS")) {
    const std::string_view value = text;
    if (value != "on" && value != "off") return BadSetting("SFMLA_SIM_CHECKS", text, "on or off");
    out->checks = value == "on";
  }
  if (const char* text = get("SFMLA_SIM_TRACE")) out->trace_file = text;
  return Status::Ok();
}

// Which device, and the rules of which product.
Status ReadDevice(const char* (*get)(const char* name), Settings* out) {
  if (const char* text = get("SFMLA_DEVICE")) {
    const std::string_view value = text;
    if (value != "cpu" && value != "ascend910b") {
      return BadSetting("SFMLA_DEVICE", text, "cpu or ascend910b");
    }
    if (value == "ascend910b") out->device = DeviceKind::kAscend910b;
  }
  const bool emulated = out->device != DeviceKind::kCpu;
  if (emulated) out->rules = "ascend910b";
  if (const char* text = get("SFMLA_RULES")) {
    SFMLA_RETURN_IF_ERROR(ReadName("SFMLA_RULES", text, kRuleNames, &out->rules));
    if (emulated && out->rules != "ascend910b") {
      return BadSetting("SFMLA_RULES", text, "ascend910b with SFMLA_DEVICE=ascend910b");
    }
  }
  return ReadEmulator(get, &out->emulator);
}

// What programs set for a card, as far as it has a meaning here.
Status ReadPlatformVariables(const char* (*get)(const char* name), Settings* out) {
  if (const char* text = get("ASCEND_RT_VISIBLE_DEVICES")) {
    const std::string_view value = text;
    if (value.find_first_not_of("0123456789, ") != std::string_view::npos) {
      return BadSetting("ASCEND_RT_VISIBLE_DEVICES", text, "device numbers with commas between");
    }
    out->device_is_visible = value == "0" || value.substr(0, 2) == "0,";
  }
  if (const char* text = get("ASCEND_GLOBAL_LOG_LEVEL")) {
    const std::string_view value = text;
    if (value.size() != 1 || value[0] < '0' || value[0] > '4') {
      return BadSetting("ASCEND_GLOBAL_LOG_LEVEL", text, "a number from 0 to 4");
    }
    out->log_level = value[0] - '0';
  }
  if (const char* text = get("ASCEND_LOG_PRINT_TO_STDOUT")) {
    const std::string_view value = text;
    if (value != "0" && value != "1") {
      return BadSetting("ASCEND_LOG_PRINT_TO_STDOUT", text, "0 or 1");
    }
    out->log_to_stdout = value == "1";
  }
  return Status::Ok();
}

}  // namespace

Result<Settings> ParseSettings(const char* (*get)(const char* name)) {
  Settings out;
  out.num_threads = AvailableProcessors();
  out.device_memory_bytes = PhysicalMemoryBytes();
  if (const char* text = get("SFMLA_NUM_THREADS")) {
    const std::optional<uint64_t> value = ParsePositive(text);
    if (!value || *value > kMaxThreads) {
      return BadSetting("SFMLA_NUM_THREADS", text, Str("a whole number from 1 to ", kMaxThreads));
    }
    out.num_threads = static_cast<int>(*value);
  }
  if (const char* text = get("SFMLA_CHECK")) SFMLA_RETURN_IF_ERROR(ReadCheck(text, &out));
  SFMLA_RETURN_IF_ERROR(ReadDevice(get, &out));
  if (const char* text = get("SFMLA_ISA")) {
    SFMLA_RETURN_IF_ERROR(ReadName("SFMLA_ISA", text, kIsaNames, &out.isa));
  }
  if (const char* text = get("SFMLA_DEVICE_MEMORY")) {
    const std::optional<uint64_t> value = ParseBytes(text);
    if (!value) {
      return BadSetting("SFMLA_DEVICE_MEMORY", text,
                        "a positive number of bytes, with K, M or G behind it if you like");
    }
    out.device_memory_bytes = *value;
  }
  SFMLA_RETURN_IF_ERROR(ReadPlatformVariables(get, &out));
  return out;
}

const Result<Settings>& ProcessSettings() {
  const Result<Settings>* settings = g_settings.load(std::memory_order_acquire);
  if (settings != nullptr) return *settings;
  std::lock_guard lock(g_settings_mutex);
  settings = g_settings.load(std::memory_order_acquire);
  if (settings == nullptr) {
    settings = new Result<Settings>(
        ParseSettings([](const char* name) -> const char* { return std::getenv(name); }));
    g_settings.store(settings, std::memory_order_release);
  }
  return *settings;
}

}  // namespace sfmla
