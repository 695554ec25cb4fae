// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/sparse_flash_mla/kv_source.h"

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
  const int32_t* end = part->indices + part->count;
  part->count = std::find_if(part->indices, end, [](int32_t id) { return id < 0; }) - part->indices;
}

KvCursor::KvCursor(const KvPart& part, int64_t begin, int64_t end)
    : part_(part), next_(std::min(begin, part.count)), end_(std::min(end, part.count)) {}

int KvCursor::Fill(const uint16_t** rows, int size, int capacity, TableFault* fault) {
  for (; size < capacity && next_ < end_; ++next_) {
    int64_t token = part_.range.begin + next_;
    if (part_.indices != nullptr) {
      token = part_.indices[next_];
      if (token < part_.range.begin || token >= part_.range.end) continue;
    }
    const uint16_t* address = part_.cache.Token(token);
    if (address == nullptr) {
      *fault = part_.cache.FaultAt(token);
      fault->compressed = part_.compressed;
      next_ = end_;
      break;
    }
    rows[size++] = address;
  }
  return size;
}

}  // namespace sfmla
