// SPDX-License-Identifier: Apache-2.0
// What a kernel may use of a dav-2201 core (Atlas A2, A3), in bytes, and the units its instructions
// count in.
#pragma once

#include <cstdint>

namespace sfmla::dav_2201 {

inline constexpr uint32_t kKibibyte = 1024;
// 192 KB less the 8 KB that library calls reserve and 256 B of the system, rounded down.
inline constexpr uint32_t kUbBytes = 183 * kKibibyte;
inline constexpr uint32_t kL1Bytes = 512 * kKibibyte - 256;
inline constexpr uint32_t kL0aBytes = 64 * kKibibyte;
inline constexpr uint32_t kL0bBytes = 64 * kKibibyte;
inline constexpr uint32_t kL0cBytes = 128 * kKibibyte;

inline constexpr uint32_t kBlockBytes = 32;        // unit of UB and L1 strides
inline constexpr uint32_t kRepeatFloats = 64;      // float32 elements of one vector round
inline constexpr uint32_t kFloatsPerBlock = 8;     // of 32 B
inline constexpr uint32_t kElementsPerBlock = 16;  // 16-bit; width of a fractal, C0
inline constexpr uint32_t kFractalRows = 16;
inline constexpr uint32_t kMaxNdRowPitch = 65535;  // elements, of a GM -> L1 layout change
// Below this many 16 x 16 blocks of C, sums onto the same C need a barrier between them.
inline constexpr uint32_t kOverlappingBlocks = 10;
inline constexpr uint32_t kEventIds = 8;
// TPipe keeps M_MTE1 flags below this id for itself.
inline constexpr int32_t kFirstFreeL0Event = 3;
// SyncAll keeps cross-core flags from this id on for itself.
inline constexpr int32_t kFirstSyncAllFlag = 11;

}  // namespace sfmla::dav_2201
