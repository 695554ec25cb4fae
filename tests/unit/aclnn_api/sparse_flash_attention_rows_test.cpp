// SPDX-License-Identifier: Apache-2.0
// The whole path of SparseFlashAttention row by row: which tokens count, bits that must not move,
// junk in device arrays that must not hurt. Numbers at large are judged in tests/python.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "aclnnop/aclnn_sparse_flash_attention.h"
#include "aclnnop/aclnn_sparse_flash_attention_v2.h"
#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

constexpr int64_t kRope = 64;

// Host arrays of one call, BFLOAT16. The keys lie in pages of shuffled order; the other layouts get
// the same tokens.
struct FlashCall {
  std::string layout_query = "TND";
  std::string layout_kv = "PA_BSND";
  int64_t heads = 4;
  int64_t topk = 32;
  int64_t block = 1;
  int64_t mode = 3;
  int64_t page = 16;
  int64_t columns = 8;
  int64_t pages = 0;
  int64_t rows = 0;  // of query, T1
  std::vector<int32_t> row_counts, token_counts, table, indices;
  std::vector<uint16_t> query, query_rope, key, key_rope;
  std::vector<uint16_t> value;  // empty: NULL
  std::vector<float> sinks;     // not empty: V2
  bool value_is_key = false;    // the same tensor twice

  int64_t batch() const { return static_cast<int64_t>(row_counts.size()); }
};

std::vector<int32_t> EndsOf(const std::vector<int32_t>& counts) {
  std::vector<int32_t> out;
  int32_t end = 0;
  for (const int32_t count : counts) out.push_back(end += count);
  return out;
}

std::vector<uint16_t> RandomElements(int64_t count, std::mt19937* random) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> out(static_cast<size_t>(count));
  for (uint16_t& element : out) {
    const float value = normal(*random);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    element = static_cast<uint16_t>(bits >> 16);
  }
  return out;
}

// Requests of (query rows, tokens); lists of every third token, then -1.
FlashCall MakeFlashCall(const std::vector<std::pair<int32_t, int32_t>>& requests, uint32_t seed,
                        int64_t heads = 4) {
  FlashCall call;
  call.heads = heads;
  std::mt19937 random(seed);
  for (const auto& [rows, tokens] : requests) {
    call.row_counts.push_back(rows);
    call.token_counts.push_back(tokens);
    call.rows += rows;
  }
  call.pages = call.batch() * call.columns;
  for (int64_t i = 0; i < call.pages; ++i) call.table.push_back(static_cast<int32_t>(i));
  std::shuffle(call.table.begin(), call.table.end(), random);
  call.query = RandomElements(call.rows * call.heads * kDim, &random);
  call.query_rope = RandomElements(call.rows * call.heads * kRope, &random);
  call.key = RandomElements(call.pages * call.page * kDim, &random);
  call.key_rope = RandomElements(call.pages * call.page * kRope, &random);
  for (int64_t i = 0; i < call.rows * call.topk; ++i) {
    const auto lane = static_cast<int32_t>(i % call.topk);
    call.indices.push_back(lane < call.topk - 2 ? 3 * lane : -1);
  }
  return call;
}

// With query 0 every score is 0, so the sum counts the tokens of a row.
FlashCall CountingCall(const std::vector<std::pair<int32_t, int32_t>>& requests,
                       int64_t heads = 4) {
  FlashCall call = MakeFlashCall(requests, 2, heads);
  std::fill(call.query.begin(), call.query.end(), uint16_t{0});
  std::fill(call.query_rope.begin(), call.query_rope.end(), uint16_t{0});
  return call;
}

// The tokens of the pages one request after the other: `room` of each, or as many as it has.
std::vector<uint16_t> Unpaged(const FlashCall& call, const std::vector<uint16_t>& pool,
                              int64_t width, int64_t room) {
  std::vector<uint16_t> out;
  for (int64_t b = 0; b < call.batch(); ++b) {
    const int64_t count = room > 0 ? room : call.token_counts[static_cast<size_t>(b)];
    for (int64_t token = 0; token < count; ++token) {
      const int64_t page = call.table[static_cast<size_t>(b * call.columns + token / call.page)];
      const auto begin = pool.begin() + (page * call.page + token % call.page) * width;
      out.insert(out.end(), begin, begin + width);
    }
  }
  return out;
}

// The tensors of a call in the layouts it asks for; BSND queries need equal row counts.
class FlashTensors {
 public:
  explicit FlashTensors(const FlashCall& c)
      : query(c.query, QueryDims(c, c.heads, kDim), ACL_BF16),
        query_rope(c.query_rope, QueryDims(c, c.heads, kRope), ACL_BF16),
        key(InLayout(c, c.key, kDim), KvDims(c, kDim), ACL_BF16),
        key_rope(InLayout(c, c.key_rope, kRope), KvDims(c, kRope), ACL_BF16),
        value(c.value.empty() ? std::vector<uint16_t>{} : InLayout(c, c.value, kDim),
              c.value.empty() ? std::vector<int64_t>{0} : KvDims(c, kDim), ACL_BF16),
        indices(c.indices, QueryDims(c, 1, c.topk), ACL_INT32),
        table(c.table, {c.batch(), c.columns}, ACL_INT32),
        query_lengths(c.layout_query == "TND" ? EndsOf(c.row_counts) : c.row_counts, {c.batch()},
                      ACL_INT32),
        kv_lengths(c.layout_kv == "TND" ? EndsOf(c.token_counts) : c.token_counts, {c.batch()},
                   ACL_INT32),
        sinks(c.sinks, {static_cast<int64_t>(c.sinks.size())}, ACL_FLOAT),
        // Poison: NaN in all outputs.
        out(std::vector<uint16_t>(c.query.size(), 0x7FC1), QueryDims(c, c.heads, kDim), ACL_BF16),
        max(std::vector<float>(static_cast<size_t>(c.rows * c.heads), NAN), StatisticDims(c),
            ACL_FLOAT),
        sum(std::vector<float>(static_cast<size_t>(c.rows * c.heads), NAN), StatisticDims(c),
            ACL_FLOAT) {}

  DeviceTensor query, query_rope, key, key_rope, value, indices, table, query_lengths, kv_lengths,
      sinks, out, max, sum;

 private:
  static std::vector<int64_t> QueryDims(const FlashCall& c, int64_t heads, int64_t width) {
    if (c.layout_query == "TND") return {c.rows, heads, width};
    return {c.batch(), c.rows / c.batch(), heads, width};
  }
  static std::vector<int64_t> StatisticDims(const FlashCall& c) {
    if (c.layout_query == "TND") return {1, c.rows, c.heads};
    return {c.batch(), 1, c.rows / c.batch(), c.heads};
  }
  static std::vector<int64_t> KvDims(const FlashCall& c, int64_t width) {
    if (c.layout_kv == "PA_BSND") return {c.pages, c.page, 1, width};
    if (c.layout_kv == "TND") return {EndsOf(c.token_counts).back(), 1, width};
    return {c.batch(), c.columns * c.page, 1, width};
  }
  static std::vector<uint16_t> InLayout(const FlashCall& c, const std::vector<uint16_t>& pool,
                                        int64_t width) {
    if (c.layout_kv == "PA_BSND") return pool;
    return Unpaged(c, pool, width, c.layout_kv == "BSND" ? c.columns * c.page : 0);
  }
};

struct FlashResult {
  aclError code = 0;
  std::string text;
  std::vector<uint16_t> out;
  std::vector<float> max, sum;
};

// V2 if there are sinks, else V1.
FlashResult RunFlash(FlashCall call, const StreamScope& stream) {
  const FlashTensors t(call);
  const aclTensor* own_value = call.value.empty() ? nullptr : t.value.get();
  const aclTensor* value = call.value_is_key ? t.key.get() : own_value;
  const aclTensor* table = call.layout_kv == "PA_BSND" ? t.table.get() : nullptr;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  FlashResult result;
  if (call.sinks.empty()) {
    REQUIRE(aclnnSparseFlashAttentionGetWorkspaceSize(
                t.query.get(), t.key.get(), value, t.indices.get(), table, t.query_lengths.get(),
                t.kv_lengths.get(), t.query_rope.get(), t.key_rope.get(), 1.0 / 24, call.block,
                call.layout_query.data(), call.layout_kv.data(), call.mode, INT64_MAX, INT64_MAX, 2,
                true, t.out.get(), t.max.get(), t.sum.get(), &bytes, &executor) == ACL_SUCCESS);
    result.code = RunPhaseTwo(aclnnSparseFlashAttention, bytes, executor, stream, &result.text);
  } else {
    REQUIRE(aclnnSparseFlashAttentionV2GetWorkspaceSize(
                t.query.get(), t.key.get(), value, t.indices.get(), table, t.query_lengths.get(),
                t.kv_lengths.get(), t.query_rope.get(), t.key_rope.get(), t.sinks.get(), 1.0 / 24,
                call.block, call.layout_query.data(), call.layout_kv.data(), call.mode, INT64_MAX,
                INT64_MAX, 2, true, t.out.get(), t.max.get(), t.sum.get(), &bytes,
                &executor) == ACL_SUCCESS);
    result.code = RunPhaseTwo(aclnnSparseFlashAttentionV2, bytes, executor, stream, &result.text);
  }
  result.out = t.out.Values<uint16_t>();
  result.max = t.max.Values<float>();
  result.sum = t.sum.Values<float>();
  return result;
}

void CheckSameBits(const FlashResult& found, const FlashResult& expected) {
  INFO(found.text);
  REQUIRE(found.code == ACL_SUCCESS);
  REQUIRE(expected.code == ACL_SUCCESS);
  CHECK(found.out == expected.out);
  CHECK(found.max == expected.max);
  CHECK(found.sum == expected.sum);
}

// One expected value per row, the same for all heads.
void CheckStatistics(const FlashResult& result, const std::vector<float>& max,
                     const std::vector<float>& sum) {
  INFO(result.text);
  REQUIRE(result.code == ACL_SUCCESS);
  const size_t heads = result.max.size() / max.size();
  for (size_t i = 0; i < result.max.size(); ++i) {
    CAPTURE(i);
    CHECK(result.max[i] == max[i / heads]);
    CHECK(result.sum[i] == sum[i / heads]);
  }
}

TEST_CASE("sparse flash attention: which tokens a list selects") {
  const StreamScope stream;
  // 30 tokens, rows at positions 27, 28 and 29; blocks of 4, the last one is partial.
  FlashCall call = CountingCall({{3, 30}});
  call.block = 4;
  call.topk = 8;
  struct Row {
    std::vector<int32_t> list;
    std::vector<float> causal, all;
  };
  const Row rows[] = {
      {{7, 0, 1, -1, 2, 3, 4, 5}, {8, 9, 10}, {10, 10, 10}},  // row 0 sees nothing of block 7
      {{0, 1, 2, 3, 4, 5, 6, 7}, {28, 29, 30}, {30, 30, 30}},
      {{0, 0, 8, 99, 0, INT32_MAX, -7, 1}, {12, 12, 12}, {12, 12, 12}},
      {{-1, 0, 1, 2, 3, 4, 5, 6}, {0, 0, 0}, {0, 0, 0}},
      // Only as many lanes as there are visible blocks are looked at: 7 in row 0, else 8.
      {{9, 9, 9, 9, 9, 9, 9, 1}, {0, 4, 4}, {4, 4, 4}},
  };
  for (const Row& row : rows) {
    call.indices.clear();
    for (int i = 0; i < 3; ++i) {
      call.indices.insert(call.indices.end(), row.list.begin(), row.list.end());
    }
    call.mode = 3;
    CheckStatistics(RunFlash(call, stream), {0, 0, 0}, row.causal);
    call.mode = 0;
    CheckStatistics(RunFlash(call, stream), {0, 0, 0}, row.all);
  }
}

TEST_CASE("sparse flash attention: rows without a token, and rows of no request") {
  const StreamScope stream;
  // No tokens; more rows than tokens; a list that names nothing; a padded row at the end.
  FlashCall call = CountingCall({{2, 0}, {2, 1}, {1, 9}});
  call.rows += 1;
  call.query.resize(static_cast<size_t>(call.rows * call.heads * kDim), 0x7FC0);
  call.query_rope.resize(static_cast<size_t>(call.rows * call.heads * kRope), 0x7FC0);
  call.indices.assign(static_cast<size_t>(call.rows * call.topk), 0);
  std::fill_n(call.indices.begin() + 4 * call.topk, call.topk, -1);
  const auto is_zero = [&](const FlashResult& result, int64_t row) {
    const auto begin = result.out.begin() + row * call.heads * kDim;
    return std::all_of(begin, begin + call.heads * kDim, [](uint16_t bits) { return bits == 0; });
  };
  // Row 2 comes before the only token of its request, rows 0 and 1 of a request without tokens.
  struct Row {
    int64_t mode;
    float sink;
    std::vector<float> max, sum;
  };
  const float seen = 1 + std::exp(-2.0f);
  const Row rows[] = {
      {0, NAN, {0, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 0, 0}},
      {3, NAN, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}},
      {0, -2, {-2, -2, 0, 0, -2, 0}, {1, 1, seen, seen, 1, 0}},
      {3, -2, {0, 0, 0, 0, -2, 0}, {0, 0, 0, seen, 1, 0}},
      {0, -INFINITY, {0, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 0, 0}},
      {3, -INFINITY, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.mode);
    CAPTURE(row.sink);
    call.mode = row.mode;
    call.sinks.clear();
    if (!std::isnan(row.sink)) call.sinks.assign(static_cast<size_t>(call.heads), row.sink);
    const FlashResult result = RunFlash(call, stream);
    CheckStatistics(result, row.max, row.sum);
    for (const int64_t empty : {0, 1, 4, 5}) CHECK(is_zero(result, empty));
    CHECK(is_zero(result, 2) == (row.mode == 3));
    CHECK_FALSE(is_zero(result, 3));
  }
}

TEST_CASE("sparse flash attention: layouts and where the values come from do not change bits") {
  const StreamScope stream;
  // Few heads and many are multiplied in two ways, see tile_kernels.h.
  for (const int64_t heads : {4, 40}) {
    const FlashCall call = MakeFlashCall({{2, 100}, {2, 77}, {2, 128}}, 3, heads);
    const FlashResult paged = RunFlash(call, stream);
    const auto check = [&](const std::function<void(FlashCall*)>& change) {
      FlashCall other = call;
      change(&other);
      CheckSameBits(RunFlash(other, stream), paged);
    };
    check([](FlashCall* c) { c->layout_kv = "TND"; });
    check([](FlashCall* c) { c->layout_query = "BSND"; });
    check([](FlashCall* c) { c->layout_query = c->layout_kv = "BSND"; });
    check([](FlashCall* c) { c->value_is_key = true; });
    check([](FlashCall* c) { c->value = c->key; });  // the same numbers elsewhere
    check([](FlashCall* c) { c->sinks.assign(static_cast<size_t>(c->heads), -INFINITY); });
  }
}

TEST_CASE("sparse flash attention: values of their own") {
  const StreamScope stream;
  constexpr uint16_t kThree = 0x4040;  // the mean of equal values
  for (const int64_t heads : {4, 40}) {
    FlashCall call = CountingCall({{1, 100}}, heads);
    call.value.assign(call.key.size(), kThree);
    const FlashResult result = RunFlash(call, stream);
    REQUIRE(result.code == ACL_SUCCESS);
    CHECK(result.out == std::vector<uint16_t>(result.out.size(), kThree));
  }
}

TEST_CASE("sparse flash attention: every row has the same bits in a batch and alone") {
  const StreamScope stream;
  const std::vector<std::pair<int32_t, int32_t>> requests = {{1, 100}, {4, 77}, {2, 128}, {3, 3}};
  const FlashCall all = MakeFlashCall(requests, 5);
  const FlashResult together = RunFlash(all, stream);
  REQUIRE(together.code == ACL_SUCCESS);
  int64_t first = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    FlashCall one = MakeFlashCall({requests[i]}, 5);
    one.pages = all.pages;
    one.key = all.key;
    one.key_rope = all.key_rope;
    const auto take = [&](const std::vector<uint16_t>& from, int64_t width) {
      const auto begin = from.begin() + first * all.heads * width;
      return std::vector<uint16_t>(begin, begin + one.rows * all.heads * width);
    };
    one.query = take(all.query, kDim);
    one.query_rope = take(all.query_rope, kRope);
    const auto table = all.table.begin() + static_cast<int64_t>(i) * all.columns;
    one.table.assign(table, table + all.columns);
    const FlashResult alone = RunFlash(one, stream);
    REQUIRE(alone.code == ACL_SUCCESS);
    CHECK(alone.out == take(together.out, kDim));
    CHECK(std::equal(alone.sum.begin(), alone.sum.end(), together.sum.begin() + first * all.heads));
    first += one.rows;
  }
}

TEST_CASE("sparse flash attention: bad values are named, the next good call works") {
  const StreamScope stream;
  const FlashCall good = MakeFlashCall({{1, 20}, {2, 40}}, 6);
  const FlashResult expected = RunFlash(good, stream);
  struct Row {
    void (*spoil)(FlashCall*);
    const char* text;
  };
  const Row rows[] = {
      {[](FlashCall* c) { c->row_counts = {4, -1}; },
       "actual_seq_lengths_query[0]: 4, must be at most 3"},
      {[](FlashCall* c) { c->row_counts = {2, -1}; },
       "actual_seq_lengths_query[1]: 1, must be at least the value before it, 2"},
      {[](FlashCall* c) { c->token_counts[1] = 129; },
       "actual_seq_lengths_kv[1]: 129, must be in [0, 128]"},
      {[](FlashCall* c) { c->token_counts[0] = -1; },
       "actual_seq_lengths_kv[0]: -1, must be in [0, 128]"},
      {[](FlashCall* c) { c->table[8 + 2] = 16; },
       "block_table[1, 2]: page 16, must be in [0, 15]"},
      {[](FlashCall* c) { c->table[8 + 2] = -1; },
       "block_table[1, 2]: page -1, must be in [0, 15]"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    FlashCall bad = good;
    row.spoil(&bad);
    const FlashResult result = RunFlash(bad, stream);
    CHECK(result.code == ACL_ERROR_RT_AICORE_EXCEPTION);
    INFO(result.text);
    CHECK(result.text.find(row.text) != std::string::npos);
  }
  FlashCall unneeded = good;
  unneeded.table[8 + 3] = -1;  // request 1 has 40 tokens, in pages 0, 1 and 2
  CheckSameBits(RunFlash(unneeded, stream), expected);
}

TEST_CASE("sparse flash attention: junk in device arrays never reads or writes outside them") {
  const StreamScope stream;
  constexpr int32_t kNasty[] = {0, -1, 1, -2, 7, 128, 536870000, INT32_MAX, INT32_MIN, 65536};
  std::mt19937 random(8);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    FlashCall call = MakeFlashCall({{2, 30}, {1, 100}, {3, 64}}, 7);
    call.block = int64_t{1} << random() % 5;
    call.mode = random() % 2 == 0 ? 0 : 3;
    std::vector<int32_t>* arrays[] = {&call.row_counts, &call.token_counts, &call.table,
                                      &call.indices};
    std::vector<int32_t>& victim = *arrays[random() % std::size(arrays)];
    for (int i = 0; i < 3; ++i) {
      const int32_t junk = kNasty[random() % std::size(kNasty)];
      // Row counts are summed up before they are passed, so here they must be fit to add.
      victim[random() % victim.size()] = &victim == &call.row_counts ? junk / 4 : junk;
    }
    refused += RunFlash(call, stream).code != 0;
  }
  CHECK(refused > 50);
}

}  // namespace
}  // namespace sfmla::test
