// SPDX-License-Identifier: Apache-2.0
// The peak rate of multiply-adds of one core with the instruction set the kernels use: the ceiling
// that benchmarks compare with, and what else the tools ask about it. A library of its own, because
// only they need it.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "clock.h"
#include "op_kernel/arch/cpu/tile_kernels.h"

namespace {

constexpr int64_t kSteps = 1 << 16;
constexpr int kRounds = 5;

}  // namespace

// Best FLOP per second of CPU time of a few short rounds; 0 if SFMLA_ISA is wrong.
extern "C" __attribute__((visibility("default"))) double SfmlaFmaPeak() {
  const auto& kernels = sfmla::ProcessTileKernels();
  if (!kernels.ok()) return 0;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = sfmla::bench::ThreadSeconds();
    const int64_t operations = kernels.value()->peak(kSteps);
    best =
        std::max(best, static_cast<double>(operations) / (sfmla::bench::ThreadSeconds() - start));
  }
  return best;
}

// Whether that instruction set, at least with many heads, rounds probabilities to the type of the
// values: "bfloat16", or "float16".
extern "C" __attribute__((visibility("default"))) int SfmlaRoundsWeights(const char* dtype) {
  const auto& kernels = sfmla::ProcessTileKernels();
  const auto type = dtype == std::string_view("bfloat16") ? sfmla::ElementType::kBfloat16
                                                          : sfmla::ElementType::kFloat16;
  return kernels.ok() && kernels.value()->Products(type).many.rounds_weights;
}

// Why there are no kernels, a sentence; "" if there are.
extern "C" __attribute__((visibility("default"))) const char* SfmlaKernelsRefusal() {
  const auto& kernels = sfmla::ProcessTileKernels();
  return kernels.ok() ? "" : kernels.status().text().c_str();
}

// The name of that instruction set, "" if there is none.
extern "C" __attribute__((visibility("default"))) const char* SfmlaInstructionSet() {
  const auto& kernels = sfmla::ProcessTileKernels();
  return kernels.ok() ? kernels.value()->name : "";
}
