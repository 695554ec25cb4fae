// SPDX-License-Identifier: Apache-2.0
// Which KV tokens a query row sees: the one definition, used by planning and by every kernel.
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/device_macros.h"
#include "op_kernel/common/scalar_math.h"

namespace sfmla {

// Effective lengths of one request, in tokens.
struct RequestLengths {
  int64_t query = 0;         // s1: rows of this call; they are the last ones of the prefix
  int64_t ori = 0;           // s2: original KV tokens
  int64_t cmp = 0;           // s3: compressed KV rows
  int64_t cmp_restored = 0;  // L = s3 * cmp_ratio + residual: tokens the compressed mask counts in
  int64_t first_row = 0;     // rows before it have no keys, whatever a window reaches
};

struct TokenRange {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive

  SFMLA_DEVICE int64_t size() const { return GreaterOf(0, end - begin); }
};

// Original tokens row `row` may see, clipped to [0, s2). With negative s2 - s1 the first rows come
// before the first key and see only what a right window reaches.
SFMLA_DEVICE inline TokenRange OriginalRange(const AttentionRules& rules,
                                             const RequestLengths& lengths, int64_t row) {
  const int64_t position = lengths.ori - lengths.query + row;
  int64_t begin = 0;
  int64_t end = lengths.ori;
  if (rules.ori_mask == MaskMode::kCausal) end = position + 1;
  if (rules.ori_mask == MaskMode::kWindow) {
    if (rules.window_left != kUnlimitedWindow) begin = position - rules.window_left;
    if (rules.window_right != kUnlimitedWindow) end = position + 1 + rules.window_right;
  }
  return {Within(begin, 0, lengths.ori), Within(end, 0, lengths.ori)};
}

// Compressed rows [0, threshold) that row `row` may see.
SFMLA_DEVICE inline int64_t CompressedThreshold(const AttentionRules& rules,
                                                const RequestLengths& lengths, int64_t row) {
  if (!rules.has_cmp) return 0;
  if (rules.cmp_mask == MaskMode::kNone) return lengths.cmp;
  const int64_t visible_tokens = lengths.cmp_restored - lengths.query + row + 1;
  return Within(GreaterOf(visible_tokens, 0) / rules.cmp_ratio, 0, lengths.cmp);
}

// The candidates of a row: tokens of a dense part, or those that the entries of an index list name.
// An indexed part may attend to fewer: a negative entry ends its list, a token outside the range is
// skipped.
struct RowCandidates {
  TokenRange ori_range;
  int64_t cmp_threshold = 0;
  int64_t ori_count = 0;
  int64_t cmp_count = 0;
};

SFMLA_DEVICE inline RowCandidates CandidatesOf(const AttentionRules& rules,
                                               const RequestLengths& lengths, int64_t row) {
  RowCandidates out;
  if (row < lengths.first_row) return out;
  if (rules.has_ori) {
    out.ori_range = OriginalRange(rules, lengths, row);
    const int64_t list_block = rules.ori_list_block;
    const int64_t blocks = (out.ori_range.end + list_block - 1) / list_block;
    out.ori_count =
        rules.ori_topk > 0 ? LesserOf(rules.ori_topk, blocks) * list_block : out.ori_range.size();
  }
  out.cmp_threshold = CompressedThreshold(rules, lengths, row);
  out.cmp_count =
      rules.cmp_topk > 0 ? LesserOf(rules.cmp_topk, out.cmp_threshold) : out.cmp_threshold;
  return out;
}

// How the candidates of a row are cut for planning and for the order of summation. It depends on
// nothing but the row, so the same row gives the same bits however the work is split.
//
//   block  512 candidates of one part; blocks of the original part come first
//   chunk  `blocks_per_chunk` consecutive blocks: its softmax is local, chunks are merged left to
//          right, and work is split between cores at chunk edges only
class RowBlocks {
 public:
  SFMLA_DEVICE RowBlocks(const RowCandidates& candidates, int64_t block_tokens)
      : ori_((candidates.ori_count + block_tokens - 1) / block_tokens),
        cmp_((candidates.cmp_count + block_tokens - 1) / block_tokens) {}

  SFMLA_DEVICE int64_t ori() const { return ori_; }
  SFMLA_DEVICE int64_t total() const { return ori_ + cmp_; }
  SFMLA_DEVICE int64_t blocks_per_chunk() const {
    return GreaterOf(kMinBlocksPerChunk, QuotientUp(total(), kMaxChunks));
  }
  SFMLA_DEVICE int64_t chunks() const { return QuotientUp(total(), blocks_per_chunk()); }

  static constexpr int64_t kMaxChunks = 16;

 private:
  static constexpr int64_t kMinBlocksPerChunk = 2;

  int64_t ori_;
  int64_t cmp_;
};

// Candidates [begin, end) of either part that belong to a chunk; an end may lie behind the part's.
struct ChunkCandidates {
  TokenRange ori;
  TokenRange cmp;
};
SFMLA_DEVICE inline ChunkCandidates CandidatesOfChunk(const RowBlocks& blocks, int64_t block_tokens,
                                                      int64_t chunk) {
  const int64_t begin = chunk * blocks.blocks_per_chunk();
  const int64_t end = LesserOf(begin + blocks.blocks_per_chunk(), blocks.total());
  const int64_t ori = blocks.ori();
  return {{begin * block_tokens, LesserOf(end, ori) * block_tokens},
          {GreaterOf(begin - ori, 0) * block_tokens, GreaterOf(end - ori, 0) * block_tokens}};
}

}  // namespace sfmla
