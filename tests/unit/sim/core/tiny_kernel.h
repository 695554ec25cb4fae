// SPDX-License-Identifier: Apache-2.0
// The smallest instructions: a byte copy and an addition, on any pipe between any two memories.
// The emulator's core is tested with them, whatever the real instruction families do.
#pragma once

#include <doctest/doctest.h>
#include <kernel_operator.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "sim/launch.h"

namespace sfmla::sim::test {

using AscendC::GlobalTensor;
using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::TPosition;

// Copies all of `to` from the start of `from`.
template <Pipe pipe, typename To, typename From>
void Copy(const To& to, const From& from, uint64_t bytes,
          const SourceLocation& where = SourceLocation::current()) {
  const Operand target = OperandOf(to);
  const Operand source = OperandOf(from);
  CurrentCore().Issue({.name = "Copy",
                       .pipe = pipe,
                       .where = where,
                       .accesses = {{.space = source.space,
                                     .kind = Access::Kind::kRead,
                                     .operand = "from",
                                     .begin = source.begin,
                                     .run_bytes = bytes},
                                    {.space = target.space,
                                     .kind = Access::Kind::kWrite,
                                     .operand = "to",
                                     .begin = target.begin,
                                     .run_bytes = bytes}},
                       .execute = [=] { std::memcpy(target.host, source.host, bytes); }});
}

// Adds 1 to each of `count` int32 values.
inline void Increment(const LocalTensor<int32_t>& values, uint32_t count,
                      const SourceLocation& where = SourceLocation::current()) {
  const Operand operand = OperandOf(values);
  const Access read{.space = operand.space,
                    .kind = Access::Kind::kRead,
                    .operand = "values",
                    .begin = operand.begin,
                    .run_bytes = count * sizeof(int32_t)};
  Access write = read;
  write.kind = Access::Kind::kWrite;
  CurrentCore().Issue({.name = "Increment",
                       .pipe = Pipe::kV,
                       .where = where,
                       .accesses = {read, write},
                       .execute = [=] {
                         auto* value = reinterpret_cast<int32_t*>(operand.host);
                         for (uint32_t i = 0; i < count; ++i) ++value[i];
                       }});
}

inline LocalTensor<int32_t> Ub(uint32_t begin, uint32_t elements = 64) {
  return LocalTensor<int32_t>(TPosition::VECIN, begin, elements);
}
inline LocalTensor<int32_t> L1(uint32_t begin, uint32_t elements = 64) {
  return LocalTensor<int32_t>(TPosition::A1, begin, elements);
}
inline LocalTensor<int32_t> L0c(uint32_t begin, uint32_t elements = 64) {
  return LocalTensor<int32_t>(TPosition::CO1, begin, elements);
}

// An input, an output and a workspace of 64-byte aligned int32 values; the input counts from 0.
struct Buffers {
  static constexpr uint64_t kElements = 4096;
  struct alignas(64) Block {
    int32_t values[kElements] = {};
  };
  Buffers() { std::iota(in->values, in->values + kElements, 0); }

  static GlobalTensor<int32_t> Tensor(Block& block) {
    GlobalTensor<int32_t> tensor;
    tensor.SetGlobalBuffer(block.values, kElements);
    return tensor;
  }
  GlobalTensor<int32_t> In() { return Tensor(*in); }
  GlobalTensor<int32_t> Out() { return Tensor(*out); }
  GlobalTensor<int32_t> Workspace() { return Tensor(*workspace); }
  std::vector<GmRange> Ranges() {
    return {{"in", in->values, sizeof(Block), GmRange::Kind::kInput},
            {"out", out->values, sizeof(Block), GmRange::Kind::kOutput},
            {"workspace", workspace->values, sizeof(Block), GmRange::Kind::kWorkspace}};
  }

  std::unique_ptr<Block> in = std::make_unique<Block>();
  std::unique_ptr<Block> out = std::make_unique<Block>();
  std::unique_ptr<Block> workspace = std::make_unique<Block>();
};

inline LaunchConfig OneVector() {
  LaunchConfig config;
  config.type = KernelType::kAivOnly;
  return config;
}
inline LaunchConfig OneCube() {
  LaunchConfig config;
  config.type = KernelType::kAicOnly;
  return config;
}
inline LaunchConfig Seeded(LaunchConfig config, uint64_t seed) {
  config.seed = seed;
  return config;
}

// Runs under program order and some seeds: every run must give the same verdict, that the fault
// contains all of `parts`, or, with none, that there is no fault.
inline void ExpectVerdict(const LaunchConfig& config, const std::function<void(Buffers&)>& kernel,
                          const std::vector<std::string>& parts, uint64_t seeds = 8) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Buffers buffers;
    const LaunchResult result =
        LaunchKernel(Seeded(config, seed), [&] { kernel(buffers); }, buffers.Ranges());
    INFO("seed ", seed, ": ", result.fault, "\n", result.details);
    CHECK(result.ok() == parts.empty());
    for (const std::string& part : parts) {
      INFO("wanted: ", part);
      CHECK(result.fault.find(part) != std::string::npos);
    }
  }
}

}  // namespace sfmla::sim::test
