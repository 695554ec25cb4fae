// SPDX-License-Identifier: Apache-2.0
// The published test vectors of the plan, what every plan must satisfy, and plans worked out by
// hand.
#include "op_kernel/sparse_attn_sharedkv_metadata/partition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace sfmla {
namespace {

constexpr int64_t kPublishedCores = 24;

using Cursor = std::pair<int64_t, int64_t>;  // request, row block

struct Problem {
  explicit Problem(const AttentionRules& rules_in, const std::vector<std::pair<int, int>>& requests)
      : rules(rules_in) {
    for (const auto& [rows, tokens] : requests) {
      cu_seqlens_q.push_back(cu_seqlens_q.back() + rows);
      seqused_kv.push_back(tokens);
    }
  }

  SharedKvCubeRecords Plan(int64_t cores) const {
    LengthTensors lengths(rules, static_cast<int64_t>(seqused_kv.size()));
    lengths.query_extent = cu_seqlens_q.back();
    lengths.ori_extent = kUnknownExtent;
    lengths.cmp_extent = kUnknownExtent;
    lengths.cu_seqlens_q = cu_seqlens_q.data();
    lengths.seqused_ori_kv = seqused_kv.data();
    lengths.cmp_follows_ori = true;
    return PartitionSharedKv(rules, lengths, cores);
  }

  // Row blocks of a request: of its query rows that have a place in the sequence.
  int64_t Blocks(size_t request) const {
    const int64_t rows =
        std::min(cu_seqlens_q[request + 1] - cu_seqlens_q[request], seqused_kv[request]);
    const int64_t pairs = SharedKvPairsPerBlock(rules);
    return (rows * rules.heads + pairs - 1) / pairs;
  }

  AttentionRules rules;
  std::vector<int32_t> cu_seqlens_q{0};
  std::vector<int32_t> seqused_kv;
};

// What a partition looks at. cmp_ratio 0: no compressed cache; cmp_topk 0: all of it.
AttentionRules Rules(int32_t heads, int32_t cmp_ratio, int64_t cmp_topk) {
  AttentionRules out;
  out.heads = heads;
  out.has_ori = 1;
  out.ori_mask = MaskMode::kWindow;
  out.window_left = 127;
  out.has_cmp = cmp_ratio > 0;
  out.cmp_ratio = std::max(cmp_ratio, 1);
  out.cmp_topk = cmp_topk;
  return out;
}

const AttentionRules kSwa = Rules(64, 0, 0);
const AttentionRules kCfa = Rules(64, 128, 0);
const AttentionRules kScfa = Rules(64, 4, 512);

std::vector<Cursor> Ends(const SharedKvCubeRecords& records) {
  std::vector<Cursor> out;
  for (const SharedKvCubeRecord& record : records) {
    if (record.enable) out.emplace_back(record.request_end, record.row_block_end);
  }
  return out;
}

// Enabled records come first and form a chain over all of the call; the others are 0.
void CheckWellFormed(const Problem& problem, const SharedKvCubeRecords& records, int64_t cores) {
  Cursor next{0, 0};
  int64_t enabled = 0;
  bool ended = false;
  for (const SharedKvCubeRecord& record : records) {
    const SharedKvCubeRecord zero{};
    if (record.enable == 0) {
      ended = true;
      CHECK(std::memcmp(&record, &zero, sizeof(record)) == 0);
      continue;
    }
    ++enabled;
    CHECK_FALSE(ended);
    CHECK(Cursor(record.request_start, record.row_block_start) == next);
    next = {record.request_end, record.row_block_end};
    CHECK(next > Cursor(record.request_start, record.row_block_start));
    CHECK(record.kv_block_start + record.kv_block_end + record.first_split_slot == 0);
    const bool inside =
        record.row_block_end == 0 || record.row_block_end < problem.Blocks(record.request_end);
    CHECK(inside);
  }
  CHECK(next == Cursor(static_cast<int64_t>(problem.seqused_kv.size()), 0));
  CHECK(enabled <= cores);
}

// Counts for each row block how many records have it.
void CheckCoversOnce(const Problem& problem, const SharedKvCubeRecords& records) {
  int64_t wrong = 0;
  for (size_t request = 0; request < problem.seqused_kv.size(); ++request) {
    for (int64_t block = 0; block < problem.Blocks(request); ++block) {
      const Cursor at{static_cast<int64_t>(request), block};
      wrong += 1 != std::count_if(records.begin(), records.end(), [&](const auto& record) {
                 return record.enable == 1 &&
                        Cursor(record.request_start, record.row_block_start) <= at &&
                        at < Cursor(record.request_end, record.row_block_end);
               });
    }
  }
  CHECK(wrong == 0);
}

void CheckPublished(const Problem& problem, const std::vector<Cursor>& ends) {
  const SharedKvCubeRecords records = problem.Plan(kPublishedCores);
  CHECK(Ends(records) == ends);
  CheckWellFormed(problem, records, kPublishedCores);
  CheckCoversOnce(problem, records);
}

// The ends of 23 cores inside request 0, and of a last one at (1, 0).
std::vector<Cursor> OneRequest(const std::vector<int>& blocks) {
  std::vector<Cursor> out;
  for (const int block : blocks) out.emplace_back(0, block);
  out.emplace_back(1, 0);
  return out;
}

TEST_CASE("shared kv partition, published: one row of one request is never divided") {
  for (const AttentionRules& rules : {kSwa, kCfa, kScfa}) {
    CheckPublished(Problem(rules, {{1, 8193}}), {{1, 0}});
  }
}

TEST_CASE("shared kv partition, published: nothing to do") {
  for (const AttentionRules& rules : {kSwa, kCfa, kScfa}) {
    CheckPublished(Problem(rules, {{3, 0}, {0, 5}}), {{2, 0}});
  }
}

TEST_CASE("shared kv partition, published: requests without rows or tokens among others") {
  CheckPublished(Problem(kScfa, {{1, 100}, {0, 7}, {5, 0}, {2, 5000}, {1, 1}}),
                 {{3, 0}, {3, 1}, {4, 0}, {5, 0}});
}

TEST_CASE("shared kv partition, published: four chunks with index lists") {
  CheckPublished(Problem(kScfa, {{128, 4096}, {128, 4096}, {128, 4096}, {128, 4096}}),
                 {{0, 21},  {0, 42},  {0, 63},  {0, 84},  {0, 105}, {0, 126}, {1, 19},  {1, 40},
                  {1, 61},  {1, 82},  {1, 103}, {1, 124}, {2, 18},  {2, 39},  {2, 61},  {2, 83},
                  {2, 104}, {2, 126}, {3, 20},  {3, 41},  {3, 63},  {3, 85},  {3, 106}, {4, 0}});
}

TEST_CASE("shared kv partition, published: a prefill of 8192 rows in every mode") {
  const std::vector<std::pair<int, int>> prefill{{8192, 8192}};
  CheckPublished(Problem(kSwa, prefill),
                 OneRequest({89,   174,  259,  344,  429,  514,  599,  684,  769,  854,  939, 1024,
                             1109, 1194, 1279, 1364, 1450, 1535, 1621, 1706, 1792, 1877, 1963}));
  CheckPublished(Problem(kCfa, prefill),
                 OneRequest({101,  185,  269,  353,  437,  522,  607,  691,  776,  861,  946, 1030,
                             1115, 1200, 1285, 1370, 1454, 1539, 1624, 1709, 1793, 1878, 1963}));
  CheckPublished(Problem(kScfa, prefill),
                 OneRequest({571,  1029, 1420, 1773, 2095, 2416, 2737, 3058, 3379, 3700, 4021, 4342,
                             4663, 4984, 5305, 5626, 5947, 6268, 6589, 6909, 7230, 7551, 7871}));
}

TEST_CASE("shared kv partition, published: the fitted cost of 128 heads and lists of 1024") {
  CheckPublished(Problem(Rules(128, 4, 1024), {{4096, 4096}}),
                 OneRequest({383,  702,  982,  1234, 1465, 1680, 1882, 2068, 2219, 2364, 2504, 2639,
                             2770, 2897, 3021, 3141, 3258, 3373, 3498, 3623, 3745, 3864, 3981}));
}

TEST_CASE("shared kv partition, published: speculative decoding with 16 heads") {
  std::vector<std::pair<int, int>> requests;
  for (int i = 0; i < 8; ++i) requests.emplace_back(4, 4000 + 500 * i);
  CheckPublished(Problem(Rules(16, 4, 512), requests),
                 {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0},
                  {2, 1}, {2, 2}, {2, 3}, {3, 0}, {3, 2}, {4, 0}, {4, 1}, {4, 3},
                  {5, 1}, {5, 2}, {6, 0}, {6, 1}, {6, 3}, {7, 1}, {7, 2}, {8, 0}});
}

TEST_CASE("shared kv partition, published: blocks that end inside a query row, s1 > s2") {
  CheckPublished(Problem(Rules(12, 128, 0), {{100, 50}, {1, 3000}}), {{0, 1}, {0, 2}, {2, 0}});
}

TEST_CASE("shared kv partition: two cores under each mask, by hand") {
  AttentionRules rules = kSwa;
  // Every row sees all keys, so 1024 equal blocks of 4 rows fall in two halves.
  rules.ori_mask = MaskMode::kNone;
  CHECK(Ends(Problem(rules, {{4096, 4096}}).Plan(2)) == std::vector<Cursor>{{0, 512}, {1, 0}});
  // Block k sees t = 4 (k + 1) keys and costs 96 ceil(t / 512) + 10 ceil(t / 64). The sum is
  // 775168; blocks [0, 711) cost 386766 and leave 818 of a half, the next costs 1026 and its last
  // tile 146.
  rules.ori_mask = MaskMode::kCausal;
  CHECK(Ends(Problem(rules, {{4096, 4096}}).Plan(2)) == std::vector<Cursor>{{0, 711}, {1, 0}});
  // So does a window without a left edge.
  rules.ori_mask = MaskMode::kWindow;
  rules.window_left = kUnlimitedWindow;
  CHECK(Ends(Problem(rules, {{4096, 4096}}).Plan(2)) == std::vector<Cursor>{{0, 711}, {1, 0}});
}

TEST_CASE("shared kv partition: the fitted cost at its edges, by hand") {
  const AttentionRules rules = Rules(128, 4, 1024);
  const auto ends = [&](const std::vector<std::pair<int, int>>& requests) {
    return Ends(Problem(rules, requests).Plan(2));
  };
  // A row over t tokens starts from 120 + 5 ceil(t / 64). 4095 and 4096 tokens, the latter a full
  // list: 440 and 440 - 20. 2176: 290 + 41. 960: 195 - 10. Half of it all is 688, and 688 is not
  // more than 0.8 * 860, so the first core leaves a row of request 0.
  CHECK(ends({{2, 4096}, {1, 2176}, {1, 960}}) == std::vector<Cursor>{{0, 1}, {3, 0}});
  // 2048 tokens: 280 as they are. 64: 125 - 6. 2368: 305 + 43. Half of it all is 373; the 93 that
  // request 0 leaves are not more than 0.8 * 119.
  CHECK(ends({{1, 2048}, {1, 64}, {1, 2368}}) == std::vector<Cursor>{{1, 0}, {3, 0}});
  // 2432: 310 + 44. Half of it all is 376, and 96 are more.
  CHECK(ends({{1, 2048}, {1, 64}, {1, 2432}}) == std::vector<Cursor>{{2, 0}, {3, 0}});
}

TEST_CASE("shared kv partition: random problems are covered once and in order") {
  std::mt19937 random(11);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 150; ++round) {
    const int mode = draw(0, 3);
    AttentionRules rules = mode == 3 ? Rules(128, 4, 1024)
                                     : Rules(draw(1, 128),
                                             mode == 0   ? 0
                                             : mode == 1 ? 4
                                                         : 128,
                                             mode == 1 ? 512 : 0);
    rules.ori_mask = draw(0, 3) > 0    ? MaskMode::kWindow
                     : draw(0, 1) == 0 ? MaskMode::kNone
                                       : MaskMode::kCausal;
    std::vector<std::pair<int, int>> requests;
    for (int i = draw(1, 12); i > 0; --i) {
      requests.emplace_back(draw(0, 3) == 0 ? draw(0, 900) : draw(0, 4),
                            draw(0, 5) == 0 ? draw(0, 1 << 20) : draw(0, 3000));
    }
    const Problem problem(rules, requests);
    for (const int cores : {1, 2, 24, 36}) {
      CAPTURE(round);
      CAPTURE(cores);
      const SharedKvCubeRecords records = problem.Plan(cores);
      CheckWellFormed(problem, records, cores);
      CheckCoversOnce(problem, records);
    }
  }
}

TEST_CASE("shared kv metadata: words lie where they are published") {
  SharedKvMetadata metadata{};
  metadata.cube[35].first_split_slot = 1;
  metadata.vector[71].unused = 2;
  metadata.magic = kSharedKvMagic;
  metadata.version = kSharedKvFormatVersion;
  std::vector<uint32_t> words(kMetadataWords);
  std::memcpy(words.data(), &metadata, sizeof(metadata));
  CHECK(words[287] == 1);
  CHECK(words[863] == 2);
  CHECK(std::memcmp(&words[864], "SAKV", 4) == 0);
  CHECK(words[865] == 1);
}

}  // namespace
}  // namespace sfmla
