// SPDX-License-Identifier: Apache-2.0
// What a kernel did wrong, as an exception inside the emulator. It never leaves LaunchKernel.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/pipe.h"
#include "sim/source_location.h"

namespace sfmla::sim {

// what() is one sentence that names core, pipe, instruction, file:line, what is wrong, and, for
// faults between two parties, the other one.
class SimFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "gather.h:88": the file without its folder.
std::string SiteText(const SourceLocation& where);

// Throws a SimFault that begins with the running core, `pipe`, `intrinsic` and `where`, followed by
// `reason`: operand, what was found, what is allowed. For argument contracts:
//   Fault(Pipe::kV, "Exp", where, Str("dst: address ", begin, ", must be a multiple of 32"));
// Works outside of a launch too (unit tests of pure functions), then without a core.
[[noreturn]] void Fault(Pipe pipe, const char* intrinsic, const SourceLocation& where,
                        const std::string& reason);

}  // namespace sfmla::sim
