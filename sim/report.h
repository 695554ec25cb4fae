// SPDX-License-Identifier: Apache-2.0
// Sentences about races and deadlocks.
#pragma once

#include <string>

#include "sim/access_log.h"
#include "sim/launch_state.h"

namespace sfmla::sim {

// "[64, 96) of UB", or the named range for GM.
std::string RangeText(const LaunchState& state, Space space, uint64_t begin, uint64_t bytes);
std::string RaceText(const LaunchState& state, const Access& access, const Accessor& accessor,
                     const Conflict& conflict);
// For a read of a byte nothing has written: the queued instruction that would write it and what
// keeps the reader from waiting for it; "" when there is none.
std::string QueuedWriterText(const LaunchState& state, const CoreInfo& reader, Pipe pipe,
                             Space space, uint64_t address);
// One sentence: what the first stuck core waits for.
std::string DeadlockText(const LaunchState& state);
// A line per stuck core and pipe: its wait, its flags, its last instructions.
std::string StateText(const LaunchState& state);

}  // namespace sfmla::sim
