// SPDX-License-Identifier: Apache-2.0
// What op_host tells the Ascend C attention kernel: the chip-free tiling of the call, and the
// workspace of a device whose cores are groups of one cube and two vector cores.
//
//   [0, first byte)   contiguous copies of strided inputs, placed by op_host
//   scores            per group a ring: (heads, kTileTokens) float32
//   probabilities     per group a ring: (heads, kTileTokens) of the type of q
//   values            per group a ring: (heads, kHeadDim) float32, the product of one tile
//   keys              per group a ring: (kTileTokens, kHeadDim) of the type of q, what index lists
//                     picked; no bytes without lists
//   totals            per group: (heads, kHeadDim) float32, merged chunks of the row in hand
//   partials          one SplitSlotFloats(heads) per chunk of a split row
#pragma once

#include <cstdint>
#include <type_traits>

#include "op_kernel/common/attention_tiling.h"
#include "op_kernel/common/device_macros.h"
#include "op_kernel/common/scalar_math.h"
#include "op_kernel/common/workspace_layout.h"

namespace sfmla {

inline constexpr int64_t kDeviceTileTokens = 512;  // most keys that a group works on at a time
// Depths of the rings. The cube computes the scores of a tile before the output of the tile before
// it, and the vector cores gather one tile more in advance. Whoever fills a slot again has waited
// for a flag that comes after its last reader:
//   scores of tile t         the cube awaited the probabilities of t - 2
//   probabilities of tile t  the vector cores awaited the values of t - 2
//   values of tile t         the cube awaits the probabilities of t, made after the output of t - 2
//   keys of tile t           the vector cores awaited the values of t - 3
inline constexpr int64_t kScoreSlots = 2;
inline constexpr int64_t kProbabilitySlots = 2;
inline constexpr int64_t kValueSlots = 2;
inline constexpr int64_t kKeySlots = 3;

// Offsets and sizes in bytes from the start of the user's part of the workspace.
struct DeviceWorkspace {
  int64_t groups = 0;  // groups of cores the kernel is launched on
  int64_t scores = 0;
  int64_t probabilities = 0;
  int64_t values = 0;
  int64_t keys = 0;
  int64_t totals = 0;
  int64_t partials = 0;
  int64_t split_slots = 0;
  int64_t bytes = 0;  // of all of it
};

SFMLA_DEVICE constexpr int64_t ScoreSlotBytes(int64_t heads) {
  return heads * kDeviceTileTokens * static_cast<int64_t>(sizeof(float));
}
SFMLA_DEVICE constexpr int64_t ProbabilitySlotBytes(int64_t heads) {
  return heads * kDeviceTileTokens * static_cast<int64_t>(sizeof(uint16_t));
}
SFMLA_DEVICE constexpr int64_t ValueSlotBytes(int64_t heads) {
  return heads * kHeadDim * static_cast<int64_t>(sizeof(float));
}
SFMLA_DEVICE constexpr int64_t KeySlotBytes() {
  return kDeviceTileTokens * kHeadDim * static_cast<int64_t>(sizeof(uint16_t));
}
SFMLA_DEVICE constexpr int64_t PartialSlotBytes(int64_t heads) {
  return SplitSlotFloats(heads) * static_cast<int64_t>(sizeof(float));
}

// Lays the workspace out behind `first_byte` bytes that op_host uses for something else.
SFMLA_DEVICE constexpr DeviceWorkspace PlanDeviceWorkspace(const AttentionRules& rules,
                                                           int64_t groups, int64_t split_slots,
                                                           int64_t first_byte) {
  const int64_t heads = rules.heads;
  const bool has_lists = rules.ori_topk > 0 || rules.cmp_topk > 0;
  DeviceWorkspace out;
  out.groups = groups;
  out.split_slots = split_slots;
  out.scores = MultipleUp(first_byte, kWorkspaceAlignment);
  out.probabilities = out.scores + groups * kScoreSlots * ScoreSlotBytes(heads);
  out.values = out.probabilities + groups * kProbabilitySlots * ProbabilitySlotBytes(heads);
  out.keys = out.values + groups * kValueSlots * ValueSlotBytes(heads);
  out.totals = out.keys + (has_lists ? groups * kKeySlots * KeySlotBytes() : 0);
  out.partials = out.totals + groups * ValueSlotBytes(heads);
  out.bytes = out.partials + split_slots * PartialSlotBytes(heads);
  return out;
}

struct AttentionDeviceTiling {
  AttentionTiling call;
  DeviceWorkspace workspace;
};

// It travels as bytes: no gaps, so that equal calls have equal bytes.
static_assert(std::is_trivially_copyable_v<AttentionDeviceTiling>);
static_assert(sizeof(DeviceWorkspace) == 9 * sizeof(int64_t));
static_assert(sizeof(AttentionDeviceTiling) == sizeof(AttentionTiling) + sizeof(DeviceWorkspace));

}  // namespace sfmla
