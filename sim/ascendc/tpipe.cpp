// SPDX-License-Identifier: Apache-2.0
#include "sim/ascendc/tpipe.h"

#include <exception>

#include "base/format.h"
#include "sim/core.h"
#include "sim/fault.h"
#include "sim/launch.h"

namespace AscendC {

using sfmla::Str;
using sfmla::sim::Core;
using sfmla::sim::CoreKind;
using sfmla::sim::CurrentCore;
using sfmla::sim::Fault;
using sfmla::sim::Pipe;

TPipe::TPipe(const SourceLocation& where) { Init(where); }

// A fault in here ends the kernel like any other; while one is under way nothing is issued.
TPipe::~TPipe() noexcept(false) {
  if (alive_ && std::uncaught_exceptions() == 0) Destroy();
}

void TPipe::Init(const SourceLocation& where) {
  Core& core = CurrentCore();
  if (core.scalar_state().tpipe != nullptr) {
    Fault(Pipe::kS, "TPipe", where, "another TPipe lives on this core, one is allowed at a time");
  }
  core.scalar_state().tpipe = this;
  alive_ = true;
  used_bytes_.fill(0);
  taken_ids_.fill(0);
  buffers_ = 0;
  owns_flags_ = core.info().kind == CoreKind::kCube && core.launch().architecture == 2201;
  for (int id = 0; owns_flags_ && id < kOwnEventIds; ++id) {
    core.SetFlag(where, HardEvent::M_MTE1, Alloc(HardEvent::M_MTE1, where));
  }
}

void TPipe::Destroy(const SourceLocation& where) {
  Core& core = CurrentCore();
  DrainQueues(where);
  alive_ = false;
  core.scalar_state().tpipe = nullptr;
  for (int id = 0; owns_flags_ && id < kOwnEventIds; ++id) {
    core.WaitFlag(where, HardEvent::M_MTE1, id);
  }
  core.Barrier(where, PIPE_ALL);
}

uint32_t TPipe::Take(sfmla::sim::Space space, uint32_t bytes, const SourceLocation& where) {
  uint64_t& used = used_bytes_[static_cast<size_t>(space)];
  const uint64_t available = CurrentCore().memory(space).bytes();
  if (used + bytes > available) {
    Fault(Pipe::kS, "InitBuffer", where,
          Str("buffer of ", bytes, " bytes after ", used, " of ", SpaceName(space), ", which has ",
              available));
  }
  if (++buffers_ > kMaxBuffers) {
    Fault(Pipe::kS, "InitBuffer", where,
          Str("buffer ", buffers_, " of a TPipe, ", kMaxBuffers, " are allowed"));
  }
  const auto begin = static_cast<uint32_t>(used);
  used += bytes;
  return begin;
}

event_t TPipe::FetchEventID(HardEvent event, const SourceLocation& where) {
  const uint8_t taken = taken_ids_[static_cast<size_t>(event)];
  for (int id = 0; id < 8; ++id) {
    if ((taken >> id & 1) == 0) return static_cast<event_t>(id);
  }
  Fault(Pipe::kS, "FetchEventID", where, "all 8 ids of the event are taken");
}

event_t TPipe::Alloc(HardEvent event, const SourceLocation& where) {
  const event_t id = FetchEventID(event, where);
  taken_ids_[static_cast<size_t>(event)] |= static_cast<uint8_t>(1U << id);
  return id;
}

void TPipe::Release(HardEvent event, event_t id, const SourceLocation& where) {
  uint8_t& taken = taken_ids_[static_cast<size_t>(event)];
  if ((taken >> id & 1) == 0) {
    Fault(Pipe::kS, "ReleaseEventID", where,
          Str("event id ", static_cast<int>(id), " is not taken"));
  }
  taken = static_cast<uint8_t>(taken & ~(1U << id));
}

TPipe* GetTPipePtr() { return CurrentCore().scalar_state().tpipe; }

}  // namespace AscendC
