// SPDX-License-Identifier: Apache-2.0
// One AI core as the intrinsics see it. Valid only inside a kernel that LaunchKernel runs.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ascendc/types.h"
#include "sim/instruction.h"
#include "sim/memory.h"
#include "sim/operand.h"
#include "sim/scalar_state.h"
#include "sim/source_location.h"

namespace sfmla::sim {

enum class CoreKind : uint8_t { kCube, kVector };

struct LaunchConfig;

// Which core this is.
struct CoreInfo {
  CoreKind kind = CoreKind::kCube;
  int index = 0;  // among all cores of the launch, in the order of groups
  int group = 0;
  int block_index = 0;      // GetBlockIdx
  int sub_block_index = 0;  // GetSubBlockIdx
  int vectors_per_group = 0;
  std::string label;  // "AIC3", "AIV7": kind and block index
};

class Core {
 public:
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  virtual ~Core() = default;

  virtual const CoreInfo& info() const = 0;
  virtual const LaunchConfig& launch() const = 0;
  virtual Memory& memory(Space space) = 0;  // any space but GM
  virtual ScalarState& scalar_state() = 0;
  // False when a launch is to be fast: written bytes are not tracked, contracts may be skipped.
  virtual bool checks() const = 0;

  // Checks the bounds of all accesses and that this kind of core has the pipe, then queues the
  // instruction; waits while the pipe's queue is full. With Pipe::kS it executes before returning.
  virtual void Issue(Instruction instruction) = 0;

  // LocalTensor::GetValue and SetValue, executed at once.
  virtual void ScalarReadLocal(const SourceLocation& where, const Operand& tensor, uint64_t offset,
                               void* value, uint64_t bytes) = 0;
  virtual void ScalarWriteLocal(const SourceLocation& where, const Operand& tensor, uint64_t offset,
                                const void* value, uint64_t bytes) = 0;
  // GlobalTensor::GetValue and SetValue, through the data cache.
  virtual void ScalarReadGm(const SourceLocation& where, uint64_t address, void* value,
                            uint64_t bytes) = 0;
  virtual void ScalarWriteGm(const SourceLocation& where, uint64_t address, const void* value,
                             uint64_t bytes) = 0;
  // DataCacheCleanAndInvalid of the line that holds `address`, or of all lines.
  virtual void CleanLine(const SourceLocation& where, uint64_t address) = 0;
  virtual void CleanCache(const SourceLocation& where) = 0;
  virtual void DataSyncBarrier(const SourceLocation& where) = 0;

  virtual void SetFlag(const SourceLocation& where, AscendC::HardEvent event, int id) = 0;
  virtual void WaitFlag(const SourceLocation& where, AscendC::HardEvent event, int id) = 0;
  virtual void Barrier(const SourceLocation& where, pipe_t pipe) = 0;
  virtual void CrossCoreSet(const SourceLocation& where, int mode, pipe_t pipe, int id) = 0;
  virtual void CrossCoreWait(const SourceLocation& where, int id) = 0;

 protected:
  Core() = default;
};

// The core whose program, or whose instruction, is running on this thread. Outside of a launch a
// SimFault.
Core& CurrentCore();
// nullptr outside of a launch.
Core* CurrentCoreOrNull();

}  // namespace sfmla::sim
