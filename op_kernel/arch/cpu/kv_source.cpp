// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/arch/cpu/kv_source.h"

#include <algorithm>

namespace sfmla {

RequestCache::RequestCache(const CacheGeometry& geometry, Layout layout, const uint16_t* pool,
                           const int32_t* block_table, int64_t request, int64_t first_token)
    : geometry_(&geometry), base_(pool) {
  if (layout == Layout::kTnd) base_ += first_token * geometry.token_stride;
  if (layout == Layout::kBsnd) base_ += request * geometry.outer_stride;
  if (layout == Layout::kPaged) table_ = block_table + request * geometry.table_columns;
}

TableFault RequestCache::FaultAt(int64_t token) const {
  TableFault fault;
  fault.found = true;
  fault.column = token / geometry_->page_tokens;
  fault.page = table_[fault.column];
  return fault;
}

void EndList(const int32_t* topk_length, KvPart* part) {
  if (part->indices == nullptr) return;
  if (topk_length != nullptr) {
    part->count = std::min(part->count, std::max<int64_t>(*topk_length, 0));
  }
  const int32_t* end = part->indices + part->count / part->list_block;
  const int32_t* first_negative =
      std::find_if(part->indices, end, [](int32_t id) { return id < 0; });
  part->count = (first_negative - part->indices) * part->list_block;
}

KvCursor::KvCursor(const KvPart& part, int64_t begin, int64_t end)
    : part_(part), next_(std::min(begin, part.count)), end_(std::min(end, part.count)) {}

int64_t KvCursor::TokenOf(int64_t candidate) const {
  if (part_.indices == nullptr) return part_.range.begin + candidate;
  if (part_.list_block == 1) return part_.indices[candidate];
  return part_.indices[candidate / part_.list_block] * part_.list_block +
         candidate % part_.list_block;
}

void KvCursor::Fill(int most, TileRows* rows, TableFault* fault) {
  for (; rows->count < most && next_ < end_; ++next_) {
    const int64_t token = TokenOf(next_);
    if (token < part_.range.begin || token >= part_.range.end) continue;
    TokenPlace place;
    if (!part_.cache.Find(token, &place)) {
      *fault = part_.cache.FaultAt(token);
      fault->compressed = part_.compressed;
      next_ = end_;
      break;
    }
    rows->key[rows->count] = part_.cache.At(place);
    if (part_.rope.exists()) rows->rope[rows->count] = part_.rope.At(place);
    if (part_.value.exists()) rows->value[rows->count] = part_.value.At(place);
    ++rows->count;
  }
}

}  // namespace sfmla
