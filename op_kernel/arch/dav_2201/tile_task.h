// SPDX-License-Identifier: Apache-2.0
// One tile: up to kTileTokens candidates of one query row, the unit that goes through all stages. A
// tile's keys are candidates of the original part, then of the compressed part.
#pragma once

#include "op_kernel/arch/dav_2201/kernel_tensors.h"
#include "op_kernel/common/kv_range.h"

namespace sfmla::dav_2201 {

// The candidates of one part of a row, in order of attention.
struct PartTask {
  TokenRange range;         // tokens the row may see
  int64_t count = 0;        // candidates, up to the end of the list
  bool is_listed = false;   // named by an index list; else they are the range
  int64_t first_index = 0;  // of the row's list within the index tensor
  int64_t first_token = 0;  // of the request within a packed pool
};

struct RowTask {
  int64_t request = 0;
  int64_t row = 0;
  int64_t global_row = 0;  // among all rows of q
  PartTask ori;
  PartTask cmp;
  RowBlocks blocks{RowCandidates{}, 1};
  bool has_keys = false;
};

// Candidates [begin, end) of a part that a tile holds. Of a listed part fewer may be attended:
// their keys come first, the others count as absent.
struct PartTile {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t attended = 0;  // known once the keys have been gathered

  __aicore__ inline int64_t size() const { return end - begin; }
};

inline constexpr int64_t kNotSplit = -1;

struct TileTask {
  int64_t index = 0;  // tiles of this group, counted
  RowTask row;
  PartTile ori;
  PartTile cmp;
  bool first_of_row = false;  // within the tiles of this group
  bool last_of_row = false;
  bool first_of_chunk = false;
  bool last_of_chunk = false;
  bool first_chunk = false;  // of those of the row that have candidates and are this group's
  bool last_chunk = false;
  int64_t split_slot = kNotSplit;  // where the chunk's result goes if the row is split

  __aicore__ inline int64_t keys() const { return ori.size() + cmp.size(); }
  __aicore__ inline int64_t attended() const { return ori.attended + cmp.attended; }
  // Whether some of its keys have to be gathered before the cube can read them.
  __aicore__ inline bool is_gathered() const {
    return (row.ori.is_listed && ori.size() > 0) || (row.cmp.is_listed && cmp.size() > 0);
  }
};

}  // namespace sfmla::dav_2201
