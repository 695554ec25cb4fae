// SPDX-License-Identifier: Apache-2.0
// The environment variables of the library, read in one place. Each is read once, at first use; a
// value that means nothing is an error with a sentence, never a silent default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/kernel_call.h"
#include "base/status.h"

namespace sfmla {

enum class CheckLevel : uint8_t { kOff, kOn, kStrict };

// The values of SFMLA_RULES: whose product rules the checks apply.
inline constexpr std::string_view kRuleNames[] = {"cpu", "ascend910b", "ascend950"};

// The values of SFMLA_ISA. Which of them were built and run here is for the tile kernels to say.
inline constexpr std::string_view kIsaNames[] = {"generic", "avx2",      "avx512", "avx512bf16",
                                                 "amxbf16", "amxfp16",   "neon",   "neonbf16",
                                                 "sve256",  "sve256bf16"};

// The emulated device; nothing of it matters to the CPU.
struct EmulatorSettings {
  int cores = 24;          // SFMLA_SIM_CORES: cube cores, 1 to 36, with two vector cores each
  uint64_t seed = 0;       // SFMLA_SIM_SEED: 0 is program order, others pick among legal orders
  bool checks = true;      // SFMLA_SIM_CHECKS = on | off
  std::string trace_file;  // SFMLA_SIM_TRACE: where the last launch writes what ran when
};

struct Settings {
  DeviceKind device = DeviceKind::kCpu;  // SFMLA_DEVICE = cpu | ascend910b
  EmulatorSettings emulator;
  int num_threads = 1;  // SFMLA_NUM_THREADS; default: processors this process may run on
  CheckLevel check = CheckLevel::kOn;  // SFMLA_CHECK = off | on | strict
  // SFMLA_RULES = cpu | ascend910b | ascend950; an emulated device has its own and takes no others
  std::string rules = "cpu";
  std::string isa;                   // SFMLA_ISA; empty: the best this processor runs
  uint64_t device_memory_bytes = 0;  // SFMLA_DEVICE_MEMORY, K/M/G suffix; default: physical memory
  // ASCEND_RT_VISIBLE_DEVICES: whether its first number is 0; without the variable it counts as so.
  bool device_is_visible = true;
  int log_level = 4;           // ASCEND_GLOBAL_LOG_LEVEL, 0 (all) to 4 (nothing, the default)
  bool log_to_stdout = false;  // ASCEND_LOG_PRINT_TO_STDOUT = 1 | 0; otherwise standard error
};

// The settings of this process, or the sentence about the first variable that is wrong.
const Result<Settings>& ProcessSettings();

// The same from a given environment (name -> value or nullptr); for tests.
Result<Settings> ParseSettings(const char* (*get)(const char* name));

}  // namespace sfmla
