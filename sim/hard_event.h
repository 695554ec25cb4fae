// SPDX-License-Identifier: Apache-2.0
// The pipes behind each HardEvent, and which pipes a core has.
#pragma once

#include <optional>
#include <string>

#include "sim/ascendc/types.h"
#include "sim/core.h"

namespace sfmla::sim {

inline constexpr int kHardEvents = static_cast<int>(AscendC::HardEvent::MAX);
inline constexpr int kEventIds = 8;

struct EventPipes {
  Pipe source;
  Pipe destination;
};

// By HardEvent.
inline constexpr EventPipes kEventPipes[kHardEvents] = {
    {Pipe::kMte2, Pipe::kMte1}, {Pipe::kMte1, Pipe::kMte2}, {Pipe::kMte1, Pipe::kM},
    {Pipe::kM, Pipe::kMte1},    {Pipe::kMte2, Pipe::kV},    {Pipe::kV, Pipe::kMte2},
    {Pipe::kMte3, Pipe::kV},    {Pipe::kV, Pipe::kMte3},    {Pipe::kM, Pipe::kV},
    {Pipe::kV, Pipe::kM},       {Pipe::kV, Pipe::kV},       {Pipe::kMte3, Pipe::kMte1},
    {Pipe::kMte1, Pipe::kMte3}, {Pipe::kMte1, Pipe::kV},    {Pipe::kMte2, Pipe::kM},
    {Pipe::kM, Pipe::kMte2},    {Pipe::kV, Pipe::kMte1},    {Pipe::kM, Pipe::kFix},
    {Pipe::kFix, Pipe::kM},     {Pipe::kMte3, Pipe::kMte2}, {Pipe::kMte2, Pipe::kMte3},
    {Pipe::kS, Pipe::kV},       {Pipe::kV, Pipe::kS},       {Pipe::kS, Pipe::kMte2},
    {Pipe::kMte2, Pipe::kS},    {Pipe::kS, Pipe::kMte3},    {Pipe::kMte3, Pipe::kS},
    {Pipe::kMte2, Pipe::kFix},  {Pipe::kFix, Pipe::kMte2},  {Pipe::kFix, Pipe::kS},
    {Pipe::kM, Pipe::kS},       {Pipe::kFix, Pipe::kMte3},  {Pipe::kMte1, Pipe::kFix},
    {Pipe::kFix, Pipe::kMte1},  {Pipe::kFix, Pipe::kFix},
};

constexpr EventPipes PipesOf(AscendC::HardEvent event) {
  return kEventPipes[static_cast<int>(event)];
}

// "MTE2_V".
inline std::string EventName(Pipe source, Pipe destination) {
  return std::string(PipeName(source)) + "_" + PipeName(destination);
}
inline std::string EventName(AscendC::HardEvent event) {
  return EventName(PipesOf(event).source, PipesOf(event).destination);
}

// On 2201. Cube cores have MTE3 for L1 to GM.
constexpr bool HasPipe(CoreKind kind, Pipe pipe) {
  switch (pipe) {
    case Pipe::kV:
      return kind == CoreKind::kVector;
    case Pipe::kM:
    case Pipe::kMte1:
    case Pipe::kFix:
      return kind == CoreKind::kCube;
    default:
      return true;
  }
}

constexpr bool HasEvent(CoreKind kind, AscendC::HardEvent event) {
  return HasPipe(kind, PipesOf(event).source) && HasPipe(kind, PipesOf(event).destination);
}

}  // namespace sfmla::sim
