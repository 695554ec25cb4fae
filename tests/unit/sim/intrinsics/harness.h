// SPDX-License-Identifier: Apache-2.0
// Runs a few instructions on one emulated core, with operands put into its memories and taken out
// of them directly.
#pragma once

#include <doctest/doctest.h>
#include <kernel_operator.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/launch.h"

namespace sfmla::sim::test {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::TPosition;

inline LaunchResult Launch(KernelType type, const std::function<void()>& kernel,
                           const std::vector<GmRange>& ranges = {}) {
  LaunchConfig config;
  config.type = type;
  return LaunchKernel(config, kernel, ranges);
}

// The instructions must break no rule.
inline void RunOnVector(const std::function<void()>& kernel,
                        const std::vector<GmRange>& ranges = {}) {
  const LaunchResult result = Launch(KernelType::kAivOnly, kernel, ranges);
  REQUIRE_MESSAGE(result.ok(), result.fault);
}
inline void RunOnCube(const std::function<void()>& kernel,
                      const std::vector<GmRange>& ranges = {}) {
  const LaunchResult result = Launch(KernelType::kAicOnly, kernel, ranges);
  REQUIRE_MESSAGE(result.ok(), result.fault);
}

// They must break a rule, and the fault must say `text`.
inline void ExpectFault(KernelType type, const std::string& text,
                        const std::function<void()>& kernel,
                        const std::vector<GmRange>& ranges = {}) {
  const LaunchResult result = Launch(type, kernel, ranges);
  CHECK_MESSAGE(result.fault.find(text) != std::string::npos, "wanted: ", text,
                "\nfound: ", result.fault);
}
inline void ExpectVectorFault(const std::string& text, const std::function<void()>& kernel,
                              const std::vector<GmRange>& ranges = {}) {
  ExpectFault(KernelType::kAivOnly, text, kernel, ranges);
}
inline void ExpectCubeFault(const std::string& text, const std::function<void()>& kernel,
                            const std::vector<GmRange>& ranges = {}) {
  ExpectFault(KernelType::kAicOnly, text, kernel, ranges);
}

template <typename T>
LocalTensor<T> Ub(uint32_t address, uint32_t elements) {
  return LocalTensor<T>(TPosition::VECCALC, address, elements);
}

template <typename T>
void Put(const LocalTensor<T>& tensor, const std::vector<T>& values) {
  Memory& memory = CurrentCore().memory(SpaceOf(tensor.GetPosition()));
  std::memcpy(memory.At(tensor.begin()), values.data(), values.size() * sizeof(T));
  memory.MarkWritten(tensor.begin(), values.size() * sizeof(T));
}

// Bytes nobody wrote are the poison they always were.
template <typename T>
std::vector<T> Take(const LocalTensor<T>& tensor) {
  AscendC::PipeBarrier<PIPE_ALL>();
  Memory& memory = CurrentCore().memory(SpaceOf(tensor.GetPosition()));
  std::vector<T> values(tensor.GetSize());
  std::memcpy(values.data(), memory.At(tensor.begin()), values.size() * sizeof(T));
  return values;
}

template <typename T>
bool WasWritten(const LocalTensor<T>& tensor, uint32_t element) {
  Memory& memory = CurrentCore().memory(SpaceOf(tensor.GetPosition()));
  return memory.Written(tensor.begin() + uint64_t{element} * sizeof(T), sizeof(T));
}

template <typename T>
GlobalTensor<T> Gm(std::vector<T>& values) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(values.data(), values.size());
  return tensor;
}
template <typename T>
GmRange Range(std::vector<T>& values, GmRange::Kind kind) {
  return {"gm", values.data(), values.size() * sizeof(T), kind};
}

// Values in [-limit, limit], of few digits so that sums of products are exact.
template <typename T>
std::vector<T> Randoms(size_t count, float limit, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> digits(-64, 64);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(T(static_cast<float>(digits(random)) / 64.0f * limit));
  }
  return values;
}

// 0, 1, 2, ...
template <typename T>
std::vector<T> Counting(size_t count) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i));
  return values;
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <typename T>
void CheckSameBits(const std::vector<T>& found, const std::vector<T>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK_MESSAGE(SameBits(found[i], wanted[i]), "element ", i, ": ", static_cast<double>(found[i]),
                  ", wanted ", static_cast<double>(wanted[i]));
  }
}

// What memory holds before anybody writes to it.
template <typename T>
T Poison() {
  T value;
  auto* bytes = reinterpret_cast<uint8_t*>(&value);
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<uint8_t>(kPoison >> (8 * (i % 2)));
  }
  return value;
}

}  // namespace sfmla::sim::test
