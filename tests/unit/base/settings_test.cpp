// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace sfmla {
namespace {

std::map<std::string, std::string> g_environment;

Result<Settings> Parse(std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  return ParseSettings([](const char* name) -> const char* {
    const auto it = g_environment.find(name);
    return it == g_environment.end() ? nullptr : it->second.c_str();
  });
}

void CheckRefused(const char* name, const char* value) {
  CAPTURE(name);
  CAPTURE(value);
  const Result<Settings> settings = Parse({{name, value}});
  REQUIRE_FALSE(settings.ok());
  CHECK(settings.status().text().find(name) != std::string::npos);
  CHECK(settings.status().text().find(value) != std::string::npos);
}

TEST_CASE("settings: defaults") {
  const Result<Settings> settings = Parse({});
  REQUIRE(settings.ok());
  CHECK(settings->num_threads >= 1);
  CHECK(settings->check == CheckLevel::kOn);
  CHECK(settings->rules == "cpu");
  CHECK(settings->isa.empty());
  CHECK(settings->device_memory_bytes > 0);
}

TEST_CASE("settings: values") {
  const Result<Settings> settings = Parse({{"SFMLA_NUM_THREADS", "3"},
                                           {"SFMLA_CHECK", "off"},
                                           {"SFMLA_RULES", "ascend950"},
                                           {"SFMLA_ISA", "generic"},
                                           {"SFMLA_DEVICE_MEMORY", "5M"}});
  REQUIRE(settings.ok());
  CHECK(settings->num_threads == 3);
  CHECK(settings->check == CheckLevel::kOff);
  CHECK(settings->rules == "ascend950");
  CHECK(settings->isa == "generic");
  CHECK(settings->device_memory_bytes == 5 << 20);
  CHECK(Parse({{"SFMLA_DEVICE_MEMORY", "7"}})->device_memory_bytes == 7);
  CHECK(Parse({{"SFMLA_DEVICE_MEMORY", "2K"}})->device_memory_bytes == 2048);
  CHECK(Parse({{"SFMLA_DEVICE_MEMORY", "1G"}})->device_memory_bytes == 1 << 30);
}

TEST_CASE("settings: the emulated device, its defaults and values") {
  const Result<Settings> cpu = Parse({});
  CHECK(cpu->device == DeviceKind::kCpu);
  CHECK(Parse({{"SFMLA_DEVICE", "cpu"}})->device == DeviceKind::kCpu);
  const Result<Settings> emulated = Parse({{"SFMLA_DEVICE", "ascend910b"}});
  REQUIRE(emulated.ok());
  CHECK(emulated->device == DeviceKind::kAscend910b);
  CHECK(emulated->rules == "ascend910b");
  CHECK(emulated->emulator.cores == 24);
  CHECK(emulated->emulator.seed == 0);
  CHECK(emulated->emulator.checks);
  CHECK(emulated->emulator.trace_file.empty());

  const Result<Settings> other = Parse({{"SFMLA_DEVICE", "ascend910b"},
                                        {"SFMLA_RULES", "ascend910b"},
                                        {"SFMLA_SIM_CORES", "36"},
                                        {"SFMLA_SIM_SEED", "18446744073709551615"},
                                        {"SFMLA_SIM_CHECKS", "off"},
                                        {"SFMLA_SIM_TRACE", "trace.json"}});
  REQUIRE(other.ok());
  CHECK(other->emulator.cores == 36);
  CHECK(other->emulator.seed == UINT64_MAX);
  CHECK_FALSE(other->emulator.checks);
  CHECK(other->emulator.trace_file == "trace.json");
  CHECK(Parse({{"SFMLA_SIM_SEED", "0"}})->emulator.seed == 0);
  CHECK(Parse({{"SFMLA_SIM_CHECKS", "on"}})->emulator.checks);
}

TEST_CASE("settings: the emulated device takes the rules of its product alone") {
  for (const char* rules : {"cpu", "ascend950"}) {
    const Result<Settings> found = Parse({{"SFMLA_DEVICE", "ascend910b"}, {"SFMLA_RULES", rules}});
    REQUIRE_FALSE(found.ok());
    CHECK(found.status().text().find("SFMLA_RULES") != std::string::npos);
    CHECK(found.status().text().find(rules) != std::string::npos);
  }
}

TEST_CASE("settings: what is set for a card") {
  CHECK(Parse({{"SFMLA_CHECK", "strict"}})->check == CheckLevel::kStrict);
  CHECK(Parse({})->device_is_visible);
  CHECK(Parse({{"ASCEND_RT_VISIBLE_DEVICES", "0"}})->device_is_visible);
  CHECK(Parse({{"ASCEND_RT_VISIBLE_DEVICES", "0,1"}})->device_is_visible);
  for (const char* value : {"", "1", "4,0", "00"}) {
    CHECK_FALSE(Parse({{"ASCEND_RT_VISIBLE_DEVICES", value}})->device_is_visible);
  }
  CHECK(Parse({})->log_level == 4);
  CHECK(Parse({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}})->log_level == 2);
  CHECK(Parse({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}})->log_to_stdout);
  CheckRefused("ASCEND_RT_VISIBLE_DEVICES", "all");
  CheckRefused("ASCEND_GLOBAL_LOG_LEVEL", "5");
  CheckRefused("ASCEND_LOG_PRINT_TO_STDOUT", "yes");
}

TEST_CASE("settings: a value that means nothing is refused with name and value") {
  for (const char* value : {"0", "-1", "two", "1.5", "99999", " 2"}) {
    CheckRefused("SFMLA_NUM_THREADS", value);
  }
  for (const char* value : {"", "avx3", "AVX2", "avx2 "}) CheckRefused("SFMLA_ISA", value);
  for (const char* value : {"yes", "ON", "1"}) CheckRefused("SFMLA_CHECK", value);
  for (const char* value : {"ascend310p", "CPU"}) CheckRefused("SFMLA_RULES", value);
  for (const char* value : {"", "ascend950", "npu"}) CheckRefused("SFMLA_DEVICE", value);
  for (const char* value : {"0", "37", "-1", "two", ""}) CheckRefused("SFMLA_SIM_CORES", value);
  for (const char* value : {"-1", "1.5", "18446744073709551616", ""}) {
    CheckRefused("SFMLA_SIM_SEED", value);
  }
  for (const char* value : {"yes", "1", ""}) CheckRefused("SFMLA_SIM_CHECKS", value);
  for (const char* value :
       {"0", "K", "5T", "-5M", "99999999999999999999", "18446744073709551615G"}) {
    CheckRefused("SFMLA_DEVICE_MEMORY", value);
  }
}

}  // namespace
}  // namespace sfmla
