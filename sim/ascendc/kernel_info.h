// SPDX-License-Identifier: Apache-2.0
// What a kernel asks about its launch and its core.
#pragma once

#include <cstdint>

#include "sim/ascendc/types.h"
#include "sim/source_location.h"

namespace AscendC {

// Cube cores count 0 .. N-1, vector cores 0 .. N*ratio-1; vector core i belongs to cube i / ratio.
int64_t GetBlockIdx();
// Groups launched; in a vector-only launch vector cores.
int64_t GetBlockNum();
// Which of its group's vector cores this is; 0 on a cube core.
int64_t GetSubBlockIdx();
// Vector cores per cube core on a vector core; 1 on a cube core.
int64_t GetTaskRatio();

bool IsCubeCore();
int32_t RunningCoreType();  // AIC or AIV
bool TilingKeyIs(uint64_t key);
void RequireKernelType(KernelMetaType type,
                       const SourceLocation& where = SourceLocation::current());
void ReadTilingData(void* data, const uint8_t* address, uint64_t bytes,
                    const SourceLocation& where = SourceLocation::current());
// What ascendc_assert becomes: without the condition a fault, with the text as its sentence.
[[gnu::format(printf, 3, 4)]] void Assert(const SourceLocation& where, bool condition,
                                          const char* format, ...);
inline void Assert(const SourceLocation& where, bool condition) {
  Assert(where, condition, "the condition is false");
}
// The kernel's part of the workspace, behind what the system keeps.
uint8_t* GetUserWorkspace(uint8_t* workspace);

}  // namespace AscendC
