// SPDX-License-Identifier: Apache-2.0
// What an intrinsic hands to its core: one instruction of one pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/pipe.h"
#include "sim/source_location.h"
#include "sim/space.h"

namespace sfmla::sim {

// Bytes that an instruction touches: outer_count x inner_count runs of run_bytes bytes. Run (o, i)
// starts at begin + o * outer_stride + i * inner_stride. Runs may overlap each other.
struct Access {
  enum class Kind : uint8_t {
    kRead,
    kWrite,
    kAtomicAdd,  // read and write in one, unordered against other atomic additions
  };

  Space space = Space::kUb;
  Kind kind = Kind::kRead;
  // A read of bytes nobody wrote is a fault unless this says that they do not matter: padding of a
  // fractal, the over-read of Brcb. What is computed from them is then the intrinsic's to mark, see
  // Memory::MarkUnwritten.
  bool may_be_unwritten = false;
  // Name of the parameter, for the fault text: "dst", "src0".
  const char* operand = "";
  // Byte offset in the space; for GM the host address.
  uint64_t begin = 0;
  uint64_t run_bytes = 0;
  uint32_t inner_count = 1;
  uint32_t outer_count = 1;
  int64_t inner_stride = 0;
  int64_t outer_stride = 0;

  bool writes() const { return kind != Kind::kRead; }
  bool reads() const { return kind != Kind::kWrite; }
};

// Use of unit flags (one bit per 512 bytes of L0C): the instruction waits until all units of the
// region are full (Fixpipe) or free (Mmad), and leaves the opposite if `flips`.
struct UnitFlagUse {
  uint64_t begin = 0;  // byte offset in L0C
  uint64_t bytes = 0;
  bool wants_full = false;
  bool flips = false;
};

// Everything is captured when the scalar program issues it: addresses, parameters, scalars, mask,
// atomic mode, registers. `execute` runs later, on any pipe schedule, and must depend on nothing
// but its captures and the bytes in `accesses`.
struct Instruction {
  const char* name = "";  // of the API, a string literal
  Pipe pipe = Pipe::kV;
  SourceLocation where{};
  std::vector<Access> accesses{};
  std::function<void()> execute{};
  std::optional<UnitFlagUse> unit_flag = std::nullopt;
  // Set where the chip keeps this instruction behind earlier ones of its own pipe that touch the
  // same bytes, though the pipe as a whole does not (Mmad that accumulates into a large tile).
  bool ordered_in_pipe = false;
  // Length in the trace's program time.
  uint32_t ticks = 1;
};

}  // namespace sfmla::sim
