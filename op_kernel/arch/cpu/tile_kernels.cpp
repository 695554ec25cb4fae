// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/arch/cpu/tile_kernels.h"

#if defined(SFMLA_HAVE_X86_KERNELS)
#include <cpuid.h>
#if defined(SFMLA_HAVE_AMX_KERNELS)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(SFMLA_HAVE_ARM_KERNELS) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
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
#if defined(SFMLA_HAVE_AMX_KERNELS)
extern const TileKernels kTileKernels_amxbf16;
#endif
#if defined(SFMLA_HAVE_AMX_FP16_KERNELS)
extern const TileKernels kTileKernels_amxfp16;
#endif
#if defined(SFMLA_HAVE_ARM_KERNELS)
extern const TileKernels kTileKernels_neon;
extern const TileKernels kTileKernels_neonbf16;
extern const TileKernels kTileKernels_sve256;
extern const TileKernels kTileKernels_sve256bf16;
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

bool HasAvx512Bf16() { return HasAvx512() && __builtin_cpu_supports("avx512bf16"); }
#endif

#if defined(SFMLA_HAVE_AMX_KERNELS)
#if defined(SFMLA_AMX_IN_SOFTWARE)
bool HasAmxFp16() { return true; }
bool MayUseAmx() { return HasAvx512Bf16(); }
#else
bool HasAmx() {
  constexpr unsigned kBf16AndTile = 1U << 22 | 1U << 24;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & kBf16AndTile) == kBf16AndTile;
}

#if defined(SFMLA_HAVE_AMX_FP16_KERNELS)
bool HasAmxFp16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 1U << 21) != 0;
}
#endif

// Whether the system saves the registers of AMX when it switches threads.
bool SystemSavesAmxTiles() {
  constexpr unsigned kTileState = 1U << 17 | 1U << 18;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
}

// Linux wants to be asked, once per process; children inherit the answer. It is no while a thread
// has a signal stack that could not hold the tiles, and later such stacks are refused.
bool SystemPermitsAmx() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM, which older headers lack
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool MayUseAmx() {
  return HasAvx512Bf16() && HasAmx() && SystemSavesAmxTiles() && SystemPermitsAmx();
}
#endif
#endif

#if defined(SFMLA_HAVE_ARM_KERNELS)
#if defined(__linux__)
// Constants that older headers lack have their numbers here.
bool HasFeature(unsigned long word, int bit) { return (getauxval(word) >> bit & 1) != 0; }

bool HasBfloat16() { return HasFeature(AT_HWCAP2, 14); }     // HWCAP2_BF16
bool HasSveBfloat16() { return HasFeature(AT_HWCAP2, 12); }  // HWCAP2_SVEBF16

// Whether vectors of SVE have 256 bits. Each thread has a length of its own, which new threads and
// processes inherit or get from the system; the assumption is that nobody changes it for one that
// runs kernels.
bool HasSve256() {
  constexpr int kGetVectorLength = 51;          // PR_SVE_GET_VL
  constexpr int kLengthMask = 0xFFFF;           // PR_SVE_VL_LEN_MASK: bytes, below flags
  if (!HasFeature(AT_HWCAP, 22)) return false;  // HWCAP_SVE
  const int length = prctl(kGetVectorLength, 0, 0, 0, 0);
  return length >= 0 && (length & kLengthMask) == 256 / 8;
}
#else
bool HasBfloat16() { return false; }
bool HasSveBfloat16() { return false; }
bool HasSve256() { return false; }
#endif
#endif

struct Candidate {
  const TileKernels* kernels;
  bool (*runs_here)();
};

// Best first. Those for AMX have run on no processor yet: behind what else it has, they are used
// where they are named only.
constexpr Candidate kCandidates[] = {
#if defined(SFMLA_HAVE_X86_KERNELS)
    {&kTileKernels_avx512bf16, HasAvx512Bf16},
#endif
#if defined(SFMLA_HAVE_AMX_FP16_KERNELS)
    {&kTileKernels_amxfp16, [] { return HasAmxFp16() && MayUseAmx(); }},
#endif
#if defined(SFMLA_HAVE_AMX_KERNELS)
    {&kTileKernels_amxbf16, MayUseAmx},
#endif
#if defined(SFMLA_HAVE_X86_KERNELS)
    {&kTileKernels_avx512, HasAvx512},
    {&kTileKernels_avx2,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c(); }},
#endif
#if defined(SFMLA_HAVE_ARM_KERNELS)
    {&kTileKernels_sve256bf16, [] { return HasSve256() && HasSveBfloat16(); }},
    {&kTileKernels_neonbf16, HasBfloat16},  // multiplies as many bfloat16 as sve256 does float32
    {&kTileKernels_sve256, HasSve256},
    {&kTileKernels_neon, [] { return true; }},  // part of every AArch64 processor
#endif
    {&kTileKernels_generic, [] { return true; }},
};

}  // namespace

std::vector<const TileKernels*> UsableTileKernels() {
  std::vector<const TileKernels*> out;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.runs_here()) out.push_back(candidate.kernels);
  }
  return out;
}

Result<const TileKernels*> SelectTileKernels(const char* isa) {
  // Only those that are wanted: asking for AMX changes the process. A refusal asks for all.
  for (const Candidate& candidate : kCandidates) {
    const bool is_wanted = *isa == '\0' || candidate.kernels->name == std::string_view(isa);
    if (is_wanted && candidate.runs_here()) return candidate.kernels;
  }
  std::string allowed;
  for (const TileKernels* kernels : UsableTileKernels()) {
    allowed += Str(allowed.empty() ? "" : ", ", kernels->name);
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
