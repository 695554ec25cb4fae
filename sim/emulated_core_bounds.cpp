// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "sim/emulated_core.h"
#include "sim/hard_event.h"

namespace sfmla::sim {

namespace {

// The bytes from the lowest to the highest that an access touches, relative to access.begin.
struct Hull {
  int64_t begin = 0;
  int64_t end = 0;
};

Hull HullOf(const Access& access) {
  const int64_t inner = (int64_t{access.inner_count} - 1) * access.inner_stride;
  const int64_t outer = (int64_t{access.outer_count} - 1) * access.outer_stride;
  return {std::min<int64_t>(inner, 0) + std::min<int64_t>(outer, 0),
          std::max<int64_t>(inner, 0) + std::max<int64_t>(outer, 0) +
              static_cast<int64_t>(access.run_bytes)};
}

bool IsEmpty(const Access& access) {
  return access.run_bytes == 0 || access.inner_count == 0 || access.outer_count == 0;
}

}  // namespace

void EmulatedCore::CheckPipe(const Instruction& instruction) const {
  if (HasPipe(info_.kind, instruction.pipe)) return;
  const char* kind = info_.kind == CoreKind::kCube ? "a cube core" : "a vector core";
  Refuse(instruction, Str(kind, " has no pipe ", PipeName(instruction.pipe)));
}

void EmulatedCore::CheckGmRun(const Instruction& instruction, const Access& access, uint64_t begin,
                              uint64_t bytes) const {
  const GmRange* range = state_.gm.Find(begin, bytes);
  if (range == nullptr) {
    if (const GmRange* first = state_.gm.Find(begin, 1)) {
      Refuse(instruction,
             Str(access.operand, ": ", bytes, " bytes of GM at ", state_.gm.Describe(begin),
                 " end ", begin + bytes - EndOf(*first), " bytes past the end of ", first->name));
    }
    Refuse(instruction, Str(access.operand, ": GM byte ", state_.gm.Describe(begin),
                            " is outside of the memory that the launch may touch"));
  }
  if (access.writes() && range->kind == GmRange::Kind::kInput) {
    Refuse(instruction,
           Str(access.operand, ": writes ", state_.gm.Describe(begin), ", which is an input"));
  }
}

void EmulatedCore::CheckBounds(const Instruction& instruction) const {
  for (const Access& access : instruction.accesses) {
    if (IsEmpty(access)) continue;
    const Hull hull = HullOf(access);
    if (access.space != Space::kGm) {
      const Memory& memory = *memories_[static_cast<size_t>(access.space)];
      const auto first = static_cast<int64_t>(access.begin) + hull.begin;
      const auto end = static_cast<int64_t>(access.begin) + hull.end;
      if (first >= 0 && end <= static_cast<int64_t>(memory.bytes())) continue;
      Refuse(instruction,
             Str(access.operand, ": bytes [", first, ", ", end, ") of ", SpaceName(access.space),
                 " of ", info_.label, ", which has ", memory.bytes()));
    }
    const uint64_t begin = access.begin + static_cast<uint64_t>(hull.begin);
    const auto bytes = static_cast<uint64_t>(hull.end - hull.begin);
    const GmRange* whole = state_.gm.Find(begin, bytes);
    if (whole != nullptr && !(access.writes() && whole->kind == GmRange::Kind::kInput)) continue;
    VisitRuns(access, [&](uint64_t run, uint64_t run_bytes) {
      CheckGmRun(instruction, access, run, run_bytes);
      return true;
    });
  }
}

}  // namespace sfmla::sim
