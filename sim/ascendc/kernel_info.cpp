// SPDX-License-Identifier: Apache-2.0
#include "sim/ascendc/kernel_info.h"

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/format.h"
#include "sim/core.h"
#include "sim/fault.h"
#include "sim/launch.h"

namespace AscendC {

using sfmla::sim::CoreInfo;
using sfmla::sim::CoreKind;
using sfmla::sim::CurrentCore;

int64_t GetBlockIdx() { return CurrentCore().info().block_index; }

int64_t GetBlockNum() { return CurrentCore().launch().groups; }

int64_t GetSubBlockIdx() { return CurrentCore().info().sub_block_index; }

int64_t GetTaskRatio() {
  const CoreInfo& info = CurrentCore().info();
  return info.kind == CoreKind::kVector ? info.vectors_per_group : 1;
}

bool IsCubeCore() { return CurrentCore().info().kind == CoreKind::kCube; }

int32_t RunningCoreType() { return IsCubeCore() ? AIC : AIV; }

bool TilingKeyIs(uint64_t key) { return CurrentCore().launch().tiling_key == key; }

void RequireKernelType(KernelMetaType type, const SourceLocation& where) {
  const auto launched = static_cast<int>(CurrentCore().launch().type);
  if (static_cast<int>(type) == launched) return;
  Fault(sfmla::sim::Pipe::kS, "KERNEL_TASK_TYPE_DEFAULT", where,
        sfmla::Str("kernel type ", static_cast<int>(type), ", the launch has ", launched));
}

void ReadTilingData(void* data, const uint8_t* address, uint64_t bytes,
                    const SourceLocation& where) {
  auto* to = static_cast<uint8_t*>(data);
  for (uint64_t i = 0; i < bytes; ++i) {
    CurrentCore().ScalarReadGm(where, reinterpret_cast<uint64_t>(address + i), to + i, 1);
  }
}

void Assert(const SourceLocation& where, bool condition, const char* format, ...) {
  if (condition) return;
  std::array<char, 512> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  Fault(sfmla::sim::Pipe::kS, "ascendc_assert", where, text.data());
}

uint8_t* GetUserWorkspace(uint8_t* workspace) {
  return workspace + CurrentCore().launch().system_workspace_bytes;
}

}  // namespace AscendC
