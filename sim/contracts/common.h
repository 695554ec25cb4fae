// SPDX-License-Identifier: Apache-2.0
// What the argument contracts of all instruction families share. A contract runs when the scalar
// program issues the call; the first rule that is broken raises a SimFault that names operand or
// parameter, what was found, and what is allowed. Bounds of the physical memory are the core's to
// check, from the accesses of the instruction; bounds of the tensor argument are checked here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/format.h"
#include "sim/fault.h"
#include "sim/instruction.h"
#include "sim/operand.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// The call a contract speaks about.
struct Call {
  const char* name;  // of the API
  Pipe pipe;
  SourceLocation where;
};

// The instruction of a call, still without accesses and execution.
inline Instruction InstructionOf(const Call& call) {
  Instruction instruction;
  instruction.name = call.name;
  instruction.pipe = call.pipe;
  instruction.where = call.where;
  return instruction;
}

template <typename... Parts>
[[noreturn]] void Refuse(const Call& call, const Parts&... parts) {
  Fault(call.pipe, call.name, call.where, Str(parts...));
}

// A tensor argument under its parameter name.
struct Argument {
  const char* name;
  Operand operand;
};

void RequireSpace(const Call& call, const Argument& argument, std::initializer_list<Space> allowed);
void RequireAligned(const Call& call, const Argument& argument, uint64_t bytes);
void RequireRange(const Call& call, const char* parameter, int64_t value, int64_t lowest,
                  int64_t highest);
void RequireMultiple(const Call& call, const char* parameter, int64_t value, int64_t factor);

// No run of `access` may begin before the tensor or end behind it.
void RequireInside(const Call& call, const Argument& argument, const Access& access);

// Offset behind the last byte that the access touches, and of its first byte.
int64_t AccessEnd(const Access& access);
int64_t AccessBegin(const Access& access);

// Whether any bytes are in both; exact for strided accesses.
bool Overlap(const Access& a, const Access& b);

}  // namespace sfmla::sim
