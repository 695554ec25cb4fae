// SPDX-License-Identifier: Apache-2.0
// Runs one kernel on emulated AI cores.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/memory.h"
#include "sim/pipe.h"

namespace sfmla::sim {

class TraceSink;

// What a group of cores is made of; the names are those of KERNEL_TASK_TYPE_DEFAULT.
enum class KernelType : uint8_t {
  kAivOnly,    // one vector core, no cross-core flags
  kAicOnly,    // one cube core, no cross-core flags
  kMixAiv1_0,  // one vector core
  kMixAic1_0,  // one cube core
  kMixAic1_1,  // one cube and one vector core
  kMixAic1_2,  // one cube and two vector cores
};

// Which actor a seeded schedule lets run only when nothing else can.
struct SlowActor {
  enum class Kind : uint8_t { kNone, kPipe, kCore };
  Kind kind = Kind::kNone;
  Pipe pipe = Pipe::kS;  // kPipe: this pipe of every core
  int core = 0;          // kCore: index as in `TraceSink`
};

struct LaunchConfig {
  int groups = 1;
  KernelType type = KernelType::kMixAic1_2;
  // 0 runs every instruction as early as its flags allow, cores in turn: program order. Any other
  // value picks freely, but repeatably, among all orders the chip may take.
  uint64_t seed = 0;
  SlowActor slow;  // ignored by seed 0
  // Off: several times faster, right results for right kernels, nothing but bounds is checked.
  bool checks = true;
  uint64_t ub_limit_bytes = 0;  // what a kernel may use of UB; 0 is all of it
  uint64_t tiling_key = 0;
  int architecture = 2201;              // __NPU_ARCH__ of the emulated chip
  uint64_t system_workspace_bytes = 0;  // what GetUserWorkspace skips
  TraceSink* trace = nullptr;
};

// What a launch came to. `fault` is empty when the kernel ran to its end and broke no rule; else
// one sentence, of the first fault. `details` has further lines for a human: what every core waits
// for, the last instructions of each pipe.
struct LaunchResult {
  std::string fault;
  std::string details;
  uint64_t instructions = 0;
  uint64_t ticks = 0;  // program time of the last instruction's end

  bool ok() const { return fault.empty(); }
};

// Runs `kernel` once per core, on the calling thread, and returns when all are done or one faulted.
// The kernel may touch nothing but the memory in `ranges`, which must not overlap. After a fault
// the contents of writable ranges are undefined, everything else is as before: stacks of unfinished
// cores are unwound. Threads may launch at the same time, on ranges of their own.
LaunchResult LaunchKernel(const LaunchConfig& config, const std::function<void()>& kernel,
                          std::span<const GmRange> ranges);

}  // namespace sfmla::sim
