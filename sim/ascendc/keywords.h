// SPDX-License-Identifier: Apache-2.0
// Words of the kernel language that mean nothing to a host compiler, and the entry-file macros.
#pragma once

#include <cstdint>
#include <type_traits>

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#if __NPU_ARCH__ == 2201
#define __CCE_AICORE__ 220
#else
#define __CCE_AICORE__ 310
#endif

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__

#define GM_ADDR uint8_t*

// One program for both kinds of cores, so what CANN decides when it compiles is asked when it runs.
#define ASCEND_IS_AIC (::AscendC::IsCubeCore())
#define ASCEND_IS_AIV (!::AscendC::IsCubeCore())
#define g_coreType (::AscendC::RunningCoreType())

// Declares how the kernel must be launched; a launch of another type is a fault.
#define KERNEL_TASK_TYPE_DEFAULT(type) ::AscendC::RequireKernelType(::AscendC::type)
#define TILING_KEY_IS(key) (::AscendC::TilingKeyIs(key))
// For CANN's build, which looks for it in the source; the bytes must be the structure.
#define REGISTER_TILING_DEFAULT(type) static_assert(std::is_trivially_copyable_v<type>)
#define GET_TILING_DATA_WITH_STRUCT(type, variable, address) \
  type variable;                                             \
  ::AscendC::ReadTilingData(&variable, address, sizeof(type))
// A condition, and what to say without it: a literal and arguments as printf takes them.
#define ascendc_assert(...) ::AscendC::Assert(::AscendC::SourceLocation::current(), __VA_ARGS__)
