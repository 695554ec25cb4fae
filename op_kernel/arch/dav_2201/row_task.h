// SPDX-License-Identifier: Apache-2.0
// From request and row to what the row attends to. Every core of a group builds the same tasks from
// the same inputs; none tells another.
#pragma once

#include "op_kernel/arch/dav_2201/tile_task.h"
#include "op_kernel/common/attention_tiling.h"

namespace sfmla::dav_2201 {

// Cuts the candidates of a listed part at its top-k length and at the first negative entry.
template <typename T>
__aicore__ inline void EndList(const KernelCache<T>& cache, int64_t global_row, PartTask* part) {
  if (cache.topk_length != nullptr) {
    part->count = LesserOf(part->count, GreaterOf(cache.topk_length[global_row], 0));
  }
  for (int64_t i = 0; i < part->count; ++i) {
    if (cache.indices[part->first_index + i] < 0) part->count = i;
  }
}

// Whether any candidate is a token that the row may see.
template <typename T>
__aicore__ inline bool HasKeys(const KernelCache<T>& cache, const PartTask& part) {
  if (!part.is_listed) return part.count > 0;
  for (int64_t i = 0; i < part.count; ++i) {
    const int64_t token = cache.indices[part.first_index + i];
    if (token >= part.range.begin && token < part.range.end) return true;
  }
  return false;
}

template <typename T>
__aicore__ inline void FillPart(const KernelCache<T>& cache, int64_t topk, int64_t global_row,
                                PartTask* part) {
  part->is_listed = topk > 0;
  if (!part->is_listed) return;
  part->first_index = global_row * topk;
  EndList(cache, global_row, part);
}

template <typename T>
__aicore__ inline RowTask RowTaskOf(const KernelTensors<T>& tensors, const AttentionTiling& call,
                                    const RequestLengths& lengths, int64_t request, int64_t row) {
  const RowCandidates candidates = CandidatesOf(call.rules, lengths, row);
  RowTask out;
  out.request = request;
  out.row = row;
  out.global_row = tensors.lengths.FirstQueryRow(request) + row;
  out.blocks = RowBlocks(candidates, call.block_tokens);
  out.ori.range = candidates.ori_range;
  out.ori.count = candidates.ori_count;
  out.ori.first_token = tensors.lengths.FirstOriToken(request);
  FillPart(tensors.ori, call.rules.ori_topk, out.global_row, &out.ori);
  out.cmp.range = {0, candidates.cmp_threshold};
  out.cmp.count = candidates.cmp_count;
  if (call.rules.has_cmp) {
    out.cmp.first_token = tensors.lengths.FirstCmpToken(request);
    FillPart(tensors.cmp, call.rules.cmp_topk, out.global_row, &out.cmp);
  }
  out.has_keys = HasKeys(tensors.ori, out.ori) || HasKeys(tensors.cmp, out.cmp);
  return out;
}

// The candidates of a chunk that its row really has.
struct ChunkTask {
  PartTile ori;
  PartTile cmp;

  __aicore__ inline int64_t keys() const { return ori.size() + cmp.size(); }
};

__aicore__ inline PartTile CandidatesWithin(const TokenRange& candidates, int64_t count) {
  PartTile out;
  out.begin = LesserOf(candidates.begin, count);
  out.end = GreaterOf(out.begin, LesserOf(candidates.end, count));
  return out;
}

__aicore__ inline ChunkTask ChunkTaskOf(const RowTask& row, int64_t block_tokens, int64_t chunk) {
  const ChunkCandidates candidates = CandidatesOfChunk(row.blocks, block_tokens, chunk);
  ChunkTask out;
  out.ori = CandidatesWithin(candidates.ori, row.ori.count);
  out.cmp = CandidatesWithin(candidates.cmp, row.cmp.count);
  return out;
}

}  // namespace sfmla::dav_2201
