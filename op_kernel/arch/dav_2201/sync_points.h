// SPDX-License-Identifier: Apache-2.0
// Every flag of the attention kernel: what it says, who raises it, who waits. Ids are unique per
// pair of pipes; a pair that guards a buffer uses the id in both directions.
#pragma once

#include "kernel_operator.h"
#include "op_kernel/arch/dav_2201/limits.h"

namespace sfmla::dav_2201 {

// Between the cube core of a group and its vector cores, mode 2. At most two sets of each are on
// their way: every stage waits for the one that feeds it.
namespace cross {
inline constexpr uint16_t kKeysGathered = 0;        // vector (MTE3) -> cube
inline constexpr uint16_t kScoresReady = 1;         // cube (FIX) -> vector
inline constexpr uint16_t kProbabilitiesReady = 2;  // vector (MTE3) -> cube
inline constexpr uint16_t kValuesReady = 3;         // cube (FIX) -> vector
inline constexpr uint8_t kGroupMode = 2;
static_assert(kValuesReady < kFirstSyncAllFlag, "SyncAll has the higher ids");
}  // namespace cross

// Cube core. MTE2_MTE1: the L1 buffer is loaded; MTE1_MTE2: it was read and may be loaded again.
namespace l1_event {
inline constexpr int32_t kQuery = 0;
inline constexpr int32_t kProbabilities = 1;
inline constexpr int32_t kKeys = 2;  // one id per buffer of the ring
inline constexpr int32_t kKeysCount = 3;
static_assert(kKeys + kKeysCount <= static_cast<int32_t>(kEventIds), "ids of MTE1_MTE2");
}  // namespace l1_event
// MTE1_M: both operands are in L0; M_MTE1: they were multiplied. One id per buffer of the pair.
namespace l0_event {
inline constexpr int32_t kOperands = kFirstFreeL0Event;
// M_FIX: the sum is complete; FIX_M: it was stored. One id per buffer of the pair.
inline constexpr int32_t kSum = 0;
}  // namespace l0_event

// Vector cores.
namespace ub_event {
// One id per buffer of the pair. MTE2_V, MTE2_MTE3: loaded; V_MTE2, MTE3_MTE2: free again, raised
// by the pipe that read it last.
inline constexpr int32_t kInput = 0;
// V_MTE3: filled; MTE3_V: stored.
inline constexpr int32_t kOutput = 0;
// Accumulator and per-head values: MTE2_V loaded, V_MTE3 computed, V_MTE2 or MTE3_MTE2 free for a
// load, MTE3_V stored.
inline constexpr int32_t kAccumulator = 2;
static_assert(kInput + 2 <= kAccumulator && kOutput + 2 <= kAccumulator, "ids are unique");
}  // namespace ub_event

}  // namespace sfmla::dav_2201
