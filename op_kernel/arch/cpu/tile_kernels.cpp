// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/arch/cpu/tile_kernels.h"

#if defined(SFMLA_HAVE_X86_KERNELS)
#include <cpuid.h>
#elif defined(SFMLA_HAVE_ARM_KERNELS) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <mutex>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/settings.h"

namespace sfmla {

extern const TileKernels kTileKernels_generic;
#if defined(SFMLA_HAVE_X86_KERNELS)
extern const TileKernels kTileKernels_avx2;
extern const TileKernels kTileKernels_avx512;
extern const TileKernels kTileKernels_avx512bf16;
#endif
#if defined(SFMLA_HAVE_ARM_KERNELS)
extern const TileKernels kTileKernels_neon;
extern const TileKernels kTileKernels_neonbf16;
#endif

namespace {

#if defined(SFMLA_HAVE_X86_KERNELS)
// Clang's __builtin_cpu_supports does not know this feature.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma") && HasF16c();
}
#endif

#if defined(SFMLA_HAVE_ARM_KERNELS)
bool HasBfloat16() {
#if defined(__linux__)
  constexpr unsigned long kBf16 = 1UL << 14;  // HWCAP2_BF16, which older headers lack
  return (getauxval(AT_HWCAP2) & kBf16) != 0;
#else
  return false;
#endif
}
#endif

struct Candidate {
  const TileKernels* kernels;
  bool (*runs_here)();
};

// Best first.
constexpr Candidate kCandidates[] = {
#if defined(SFMLA_HAVE_X86_KERNELS)
    {&kTileKernels_avx512bf16, [] { return HasAvx512() && __builtin_cpu_supports("avx512bf16"); }},
    {&kTileKernels_avx512, HasAvx512},
    {&kTileKernels_avx2,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c(); }},
#endif
#if defined(SFMLA_HAVE_ARM_KERNELS)
    {&kTileKernels_neonbf16, HasBfloat16},
    {&kTileKernels_neon, [] { return true; }},  // part of every AArch64 processor
#endif
    {&kTileKernels_generic, [] { return true; }},
};

}  // namespace

Result<const TileKernels*> SelectTileKernels(const char* isa) {
  std::string allowed;
  for (const Candidate& candidate : kCandidates) {
    if (!candidate.runs_here()) continue;
    if (*isa == '\0' || candidate.kernels->name == std::string_view(isa)) return candidate.kernels;
    allowed += Str(allowed.empty() ? "" : ", ", candidate.kernels->name);
  }
  return Status(code::kAclInvalidParam, Str("environment variable SFMLA_ISA: '", isa,
                                            "', must be one of ", allowed, " on this processor"));
}

const Result<const TileKernels*>& ProcessTileKernels() {
  // Not a static of the function's own making: that would stay half made in a child that another
  // thread forks meanwhile, where call_once starts anew. Never destroyed: kernels may still run
  // while the process exits.
  static std::once_flag once;
  static const Result<const TileKernels*>* kernels = nullptr;
  std::call_once(once, [] {
    kernels = new Result<const TileKernels*>(
        ProcessSettings().ok() ? SelectTileKernels(ProcessSettings()->isa.c_str())
                               : Result<const TileKernels*>(ProcessSettings().status()));
  });
  return *kernels;
}

}  // namespace sfmla
