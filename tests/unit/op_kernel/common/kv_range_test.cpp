// SPDX-License-Identifier: Apache-2.0
// Expected ranges are worked out by hand from the rule: row t of s1 rows at the end of s2 tokens
// has position p = s2 - s1 + t.
#include "op_kernel/common/kv_range.h"

#include <doctest/doctest.h>

namespace sfmla {
namespace {

AttentionRules Window(int32_t left, int32_t right) {
  AttentionRules rules;
  rules.has_ori = true;
  rules.ori_mask = MaskMode::kWindow;
  rules.window_left = left;
  rules.window_right = right;
  return rules;
}

void CheckOriginal(const AttentionRules& rules, int64_t s1, int64_t s2, int64_t row, int64_t begin,
                   int64_t end) {
  const TokenRange range = OriginalRange(rules, {.query = s1, .ori = s2}, row);
  CHECK(range.begin == begin);
  CHECK(range.end == end);
}

TEST_CASE("original range: no mask sees everything") {
  AttentionRules rules;
  CheckOriginal(rules, 2, 5, 0, 0, 5);
  CheckOriginal(rules, 2, 5, 1, 0, 5);
}

TEST_CASE("original range: causal ignores windows") {
  AttentionRules rules = Window(1, 1);
  rules.ori_mask = MaskMode::kCausal;
  CheckOriginal(rules, 2, 5, 0, 0, 4);
  CheckOriginal(rules, 2, 5, 1, 0, 5);
  CheckOriginal(rules, 4, 2, 1, 0, 0);
  CheckOriginal(rules, 4, 2, 3, 0, 2);
}

TEST_CASE("original range: window edges") {
  CheckOriginal(Window(127, 0), 1, 127, 0, 0, 127);
  CheckOriginal(Window(127, 0), 1, 128, 0, 0, 128);
  CheckOriginal(Window(127, 0), 1, 129, 0, 1, 129);
  CheckOriginal(Window(0, 0), 3, 10, 1, 8, 9);
  CheckOriginal(Window(-1, -1), 3, 10, 0, 0, 10);
  CheckOriginal(Window(-1, 0), 3, 10, 0, 0, 8);
  CheckOriginal(Window(2, -1), 3, 10, 0, 5, 10);
}

TEST_CASE("original range: rows before the first key") {
  // s1 4, s2 2: positions -2, -1, 0, 1.
  CheckOriginal(Window(127, 0), 4, 2, 0, 0, 0);
  CheckOriginal(Window(127, 0), 4, 2, 2, 0, 1);
  CheckOriginal(Window(127, 2), 4, 2, 0, 0, 1);
  CheckOriginal(Window(127, 5), 4, 2, 0, 0, 2);
}

TEST_CASE("compressed threshold: floor of the visible tokens over the ratio, clipped") {
  AttentionRules rules;
  rules.has_cmp = true;
  rules.cmp_mask = MaskMode::kCausal;
  rules.cmp_ratio = 128;
  // L = 258 = 2 * 128 + 2, s1 = 4: visible tokens 255, 256, 257, 258.
  const RequestLengths lengths{.query = 4, .ori = 258, .cmp = 2, .cmp_restored = 258};
  CHECK(CompressedThreshold(rules, lengths, 0) == 1);
  CHECK(CompressedThreshold(rules, lengths, 1) == 2);
  CHECK(CompressedThreshold(rules, lengths, 3) == 2);

  rules.cmp_ratio = 4;
  CHECK(CompressedThreshold(rules, {.query = 8, .cmp = 1, .cmp_restored = 4}, 0) == 0);
  CHECK(CompressedThreshold(rules, {.query = 8, .cmp = 1, .cmp_restored = 4}, 6) == 0);
  CHECK(CompressedThreshold(rules, {.query = 8, .cmp = 1, .cmp_restored = 4}, 7) == 1);

  rules.cmp_mask = MaskMode::kNone;
  CHECK(CompressedThreshold(rules, lengths, 0) == 2);
  rules.has_cmp = false;
  CHECK(CompressedThreshold(rules, lengths, 0) == 0);
}

TEST_CASE("candidates: the first min(width, limit) lanes of a list") {
  AttentionRules rules = Window(127, 0);
  rules.has_cmp = true;
  rules.cmp_mask = MaskMode::kCausal;
  rules.cmp_ratio = 4;
  rules.cmp_topk = 512;
  const RequestLengths lengths{.query = 1, .ori = 40, .cmp = 10, .cmp_restored = 40};
  CHECK(CandidatesOf(rules, lengths, 0).ori_count == 40);
  CHECK(CandidatesOf(rules, lengths, 0).cmp_count == 10);
  rules.cmp_topk = 3;
  CHECK(CandidatesOf(rules, lengths, 0).cmp_count == 3);
  rules.ori_topk = 50;
  CHECK(CandidatesOf(rules, lengths, 0).ori_count == 40);
}

RowBlocks Blocks(int64_t ori, int64_t cmp) {
  RowCandidates candidates;
  candidates.ori_count = ori;
  candidates.cmp_count = cmp;
  return RowBlocks(candidates, 512);
}

TEST_CASE("blocks and chunks") {
  CHECK(Blocks(0, 0).total() == 0);
  CHECK(Blocks(0, 0).chunks() == 0);
  CHECK(Blocks(128, 512).total() == 2);
  CHECK(Blocks(128, 512).chunks() == 1);
  CHECK(Blocks(128, 513).chunks() == 2);
  CHECK(Blocks(128, 8192).total() == 17);
  CHECK(Blocks(128, 8192).blocks_per_chunk() == 2);
  CHECK(Blocks(128, 8192).chunks() == 9);
  CHECK(Blocks(1 << 20, 0).chunks() == RowBlocks::kMaxChunks);
}

}  // namespace
}  // namespace sfmla
