// SPDX-License-Identifier: Apache-2.0
// A plan as a kernel reads it: the words of its records, and the rows that they split.
#pragma once

#include "op_kernel/arch/dav_2201/kernel_tensors.h"
#include "op_kernel/common/split_rows.h"

namespace sfmla::dav_2201 {

// What a cube record of the plan says; records lie one behind the other from the first word on.
__aicore__ inline CubeRecord CubeRecordAt(const GmIntegers& metadata, int64_t index) {
  constexpr int64_t kWords = sizeof(CubeRecord) / sizeof(uint32_t);
  const int64_t first = index * kWords;
  CubeRecord out;
  out.enable = static_cast<uint32_t>(metadata[first]);
  out.request_start = static_cast<uint32_t>(metadata[first + 1]);
  out.row_start = static_cast<uint32_t>(metadata[first + 2]);
  out.block_start = static_cast<uint32_t>(metadata[first + 3]);
  out.request_end = static_cast<uint32_t>(metadata[first + 4]);
  out.row_end = static_cast<uint32_t>(metadata[first + 5]);
  out.block_end = static_cast<uint32_t>(metadata[first + 6]);
  out.first_split_slot = static_cast<uint32_t>(metadata[first + 7]);
  out.max_blocks_of_row = static_cast<uint32_t>(metadata[first + 8]);
  return out;
}

// The same of a vector record; they lie behind the cube records.
__aicore__ inline VectorRecord VectorRecordAt(const GmIntegers& metadata, int64_t index) {
  constexpr int64_t kBegin = kCubeRecords * sizeof(CubeRecord) / sizeof(uint32_t);
  constexpr int64_t kWords = sizeof(VectorRecord) / sizeof(uint32_t);
  const int64_t first = kBegin + index * kWords;
  VectorRecord out;
  out.enable = static_cast<uint32_t>(metadata[first]);
  out.request = static_cast<uint32_t>(metadata[first + 1]);
  out.row = static_cast<uint32_t>(metadata[first + 2]);
  out.first_split_slot = static_cast<uint32_t>(metadata[first + 3]);
  out.slot_count = static_cast<uint32_t>(metadata[first + 4]);
  out.head_start = static_cast<uint32_t>(metadata[first + 5]);
  out.head_count = static_cast<uint32_t>(metadata[first + 6]);
  out.unused = 0;
  return out;
}

// The split rows of the plan; at most one ends in each cube record.
struct SplitTable {
  SplitRow rows[kCubeRecords];
  int32_t count = 0;

  __aicore__ inline void Fill(const GmIntegers& metadata, const AttentionDeviceTiling& tiling,
                              const KernelLengths& lengths) {
    SplitRowScan scan(tiling.call.block_tokens, tiling.workspace.split_slots);
    for (int64_t i = 0; i < kCubeRecords; ++i) {
      const CubeRecord record = CubeRecordAt(metadata, i);
      if (scan.Add(record, tiling.call.rules, lengths, &rows[count])) ++count;
    }
  }
  // nullptr if the row is not split.
  __aicore__ inline const SplitRow* Find(int64_t request, int64_t row) const {
    for (int32_t i = 0; i < count; ++i) {
      if (rows[i].request == request && rows[i].row == row) return &rows[i];
    }
    return nullptr;
  }
};

}  // namespace sfmla::dav_2201
