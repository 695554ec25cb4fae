// SPDX-License-Identifier: Apache-2.0
// Where the next keys of a query row come from: one source per part of the KV (original,
// compressed), dense or indexed, packed, batched or paged.
#pragma once

#include <cstdint>

#include "op_kernel/arch/cpu/tile_kernels.h"
#include "op_kernel/common/cache_geometry.h"
#include "op_kernel/common/kv_range.h"

namespace sfmla {

// A block-table entry that a row needs and that names no page.
struct TableFault {
  bool found = false;
  bool compressed = false;  // which table
  int64_t request = 0;
  int64_t row = 0;  // query row that needed it
  int64_t column = 0;
  int64_t page = 0;
};

// A token of a request: counted within its page, or from the start of the request without pages.
struct TokenPlace {
  int64_t page = 0;
  int64_t token = 0;
};

// One cache as one request sees it.
class RequestCache {
 public:
  RequestCache() = default;
  // `first_token`: where the request starts in the packed tensor (packed layout only).
  RequestCache(const CacheGeometry& geometry, Layout layout, const uint16_t* pool,
               const int32_t* block_table, int64_t request, int64_t first_token);

  bool exists() const { return base_ != nullptr; }

  // Finds a token of the request; false if its table entry names no page.
  bool Find(int64_t token, TokenPlace* place) const {
    *place = {0, token};
    if (table_ == nullptr) return true;
    *place = {table_[token / geometry_->page_tokens], token % geometry_->page_tokens};
    return place->page >= 0 && place->page < geometry_->outer_extent;
  }

  // Address of a token that this pool, or one with the same pages and tokens, has found.
  const uint16_t* At(const TokenPlace& place) const {
    return base_ + place.page * geometry_->outer_stride + place.token * geometry_->token_stride;
  }

  // What to report when a token is not found.
  TableFault FaultAt(int64_t token) const;

 private:
  const CacheGeometry* geometry_ = nullptr;
  const uint16_t* base_ = nullptr;
  const int32_t* table_ = nullptr;  // this request's row of the block table
};

// The candidates of one part of a row, in order of attention.
struct KvPart {
  RequestCache cache;
  // Of the same tokens, in pools of the same order: what follows the key in the score, and values
  // that are not the keys. Most calls have neither.
  RequestCache rope;
  RequestCache value;
  TokenRange range;                  // tokens the row may see
  int64_t count = 0;                 // candidates
  const int32_t* indices = nullptr;  // list of the row; nullptr: dense, candidates are the range
  int64_t list_block = 1;            // consecutive tokens an entry of the list names
  bool compressed = false;
};

// Cuts the candidates of an indexed part at the first negative entry and at its top-k length.
void EndList(const int32_t* topk_length, KvPart* part);

// The 16-bit rows of one tile of keys.
struct TileRows {
  const uint16_t* key[kMaxTileKeys];
  const uint16_t* rope[kMaxTileKeys];
  const uint16_t* value[kMaxTileKeys];
  int count = 0;
};

// Hands out the addresses of the attended keys among candidates [begin, end) of a part.
class KvCursor {
 public:
  KvCursor(const KvPart& part, int64_t begin, int64_t end);

  // Adds rows until the tile has `most`. A bad table entry ends the walk and is noted in `fault`.
  void Fill(int most, TileRows* rows, TableFault* fault);

 private:
  int64_t TokenOf(int64_t candidate) const;

  const KvPart& part_;
  int64_t next_;
  int64_t end_;
};

}  // namespace sfmla
