// SPDX-License-Identifier: Apache-2.0
// Splits the work of a SparseAttnSharedkv call over cores, the way the published operator does: a
// plan made here has the records that one made there has. Pure: the same input gives the same
// records.
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/length_tensors.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/metadata_layout.h"

namespace sfmla {

// What a record counts in is a row block: so many (query row, head) pairs in the order of q, of
// those rows of a request that have a place in its sequence (the last min(s1, s2)). With an index
// list that is one query row; else it is 256 pairs, which may end inside a query row.
constexpr int64_t SharedKvPairsPerBlock(const AttentionRules& rules) {
  constexpr int64_t kDensePairs = 256;
  return rules.has_cmp && rules.cmp_topk > 0 ? rules.heads : kDensePairs;
}

// Records of the enabled cores, at most `cube_cores` (1..36), then records of 0. Every core starts
// where the one before it ended; the first starts at (0, 0), the last ends at (batch, 0). Without
// any work one core covers it all.
//
// Of `lengths` only the rows and original tokens of each request count. Values are trusted: see
// LengthTensors::CheckValues and kMaxPlannedRows.
SharedKvCubeRecords PartitionSharedKv(const AttentionRules& rules, const LengthTensors& lengths,
                                      int64_t cube_cores);

}  // namespace sfmla
