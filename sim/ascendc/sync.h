// SPDX-License-Identifier: Apache-2.0
// Flags, barriers and cache control, as kernels write them.
#pragma once

#include <cstdint>

#include "sim/ascendc/tensors.h"
#include "sim/ascendc/types.h"
#include "sim/core.h"
#include "sim/source_location.h"

namespace AscendC {

// The source pipe raises the flag once all it was given before is done.
template <HardEvent event>
void SetFlag(int32_t id, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().SetFlag(where, event, id);
}

// The destination pipe does nothing of what it is given from here on until the flag is up, and then
// lowers it.
template <HardEvent event>
void WaitFlag(int32_t id, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().WaitFlag(where, event, id);
}

template <pipe_t pipe>
void PipeBarrier(const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().Barrier(where, pipe);
}

// Modes: 0 all cores of a kind, 1 the vector cores of a group, 2 the cube core and the vector cores
// of a group. Announces what `pipe` was given before, and nothing else.
template <uint8_t mode, pipe_t pipe>
void CrossCoreSetFlag(uint16_t flag_id, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().CrossCoreSet(where, mode, pipe, flag_id);
}

// On 2201 both template arguments mean nothing: nothing of what comes later is issued before.
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flag_id, const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().CrossCoreWait(where, flag_id);
}

// Takes the cross-core flags 11 to 14.
template <bool vector_cores_only = true>
void SyncAll(const SourceLocation& where = SourceLocation::current()) {
  constexpr int kAllCubes = 11, kVectorsDone = 12, kGoOn = 13, kAllVectors = 14;
  sfmla::sim::Core& core = sfmla::sim::CurrentCore();
  core.Barrier(where, PIPE_ALL);
  if (vector_cores_only) {
    core.CrossCoreSet(where, 0, PIPE_MTE3, kAllVectors);
    core.CrossCoreWait(where, kAllVectors);
  } else if (core.info().kind == sfmla::sim::CoreKind::kVector) {
    core.CrossCoreSet(where, 2, PIPE_MTE3, kVectorsDone);
    core.CrossCoreWait(where, kGoOn);
  } else {
    core.CrossCoreWait(where, kVectorsDone);
    core.CrossCoreSet(where, 0, PIPE_FIX, kAllCubes);
    core.CrossCoreWait(where, kAllCubes);
    core.CrossCoreSet(where, 2, PIPE_FIX, kGoOn);
  }
}

template <typename T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor,
                              const SourceLocation& where = SourceLocation::current()) {
  if constexpr (line == CacheLine::ENTIRE_DATA_CACHE) {
    sfmla::sim::CurrentCore().CleanCache(where);
  } else {
    sfmla::sim::CurrentCore().CleanLine(where, reinterpret_cast<uint64_t>(tensor.GetPhyAddr()));
  }
}

// Scalar writes and write-backs reach memory before what comes later.
template <MemDsbT kind>
void DataSyncBarrier(const SourceLocation& where = SourceLocation::current()) {
  sfmla::sim::CurrentCore().DataSyncBarrier(where);
}

}  // namespace AscendC
