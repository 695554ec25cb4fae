// SPDX-License-Identifier: Apache-2.0
// Memories as the emulator holds them: bytes, bounds, and which bytes were ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/space.h"

namespace sfmla::sim {

// 16-bit pattern that fills memory nobody wrote: a NaN as half, as bfloat16 and, twice, as float;
// as int32 an index that no tensor has.
inline constexpr uint16_t kPoison = 0x7FFD;

// One on-chip memory of one core. Which bytes were written is known only in launches with checks;
// without, everything counts as written.
class Memory {
 public:
  Memory(Space space, uint64_t bytes, bool tracks_writes);

  Space space() const { return space_; }
  uint64_t bytes() const { return bytes_; }
  // The byte at `offset`, which must be inside; the address stays valid for the whole launch.
  std::byte* At(uint64_t offset) { return data_.get() + offset; }

  // Whether all bytes of [begin, begin + bytes) were written.
  bool Written(uint64_t begin, uint64_t bytes) const;
  void MarkWritten(uint64_t begin, uint64_t bytes);
  // For results computed from bytes that nobody wrote, called from `Instruction::execute`: the core
  // has marked all writes of the instruction as written before.
  void MarkUnwritten(uint64_t begin, uint64_t bytes);

 private:
  Space space_;
  uint64_t bytes_;
  std::unique_ptr<std::byte[]> data_;
  std::vector<uint64_t> written_;  // one bit per byte; empty when not tracked
};

// A piece of the caller's memory that a launch may touch.
struct GmRange {
  enum class Kind : uint8_t {
    kInput,      // written before the launch, constant during it
    kOutput,     // nothing written yet
    kWorkspace,  // as kOutput
    kInOut,      // written before the launch, and may be written by it
  };
  std::string name;  // for fault texts: "q", "workspace"
  void* address = nullptr;
  uint64_t bytes = 0;
  Kind kind = Kind::kInput;
};

}  // namespace sfmla::sim
