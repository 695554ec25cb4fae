// SPDX-License-Identifier: Apache-2.0
// The whole path in C++, so that sanitizers see the kernels: values counted in closed form, bits
// that must not move, and junk in device arrays that must not hurt. Numbers at large are judged in
// tests/python.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

TEST_CASE("operator: with q = 0 the LSE counts the visible keys") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{2, 30}, {1, 0}, {3, 2}, {0, 5}}, 1, true);
  std::fill(call.sinks.begin(), call.sinks.end(), 0.0f);
  const OperatorResult result = Run(call, stream);
  REQUIRE(result.plan_code == ACL_SUCCESS);
  REQUIRE(result.code == ACL_SUCCESS);
  // Request 0, 30 tokens: rows see 29 and 30 tokens and 7 compressed rows each. Request 1: nothing.
  // Request 2, 3 rows on 2 tokens: nothing, 1 and 2 tokens; 2 tokens make no compressed row.
  const double keys[] = {29 + 7, 30 + 7, 0, 0, 1, 2};
  for (size_t row = 0; row < 6; ++row) {
    CAPTURE(row);
    const double expected = keys[row] == 0 ? 0.0 : std::log(keys[row] + 1);
    for (int64_t head = 0; head < call.heads; ++head) {
      CHECK(result.lse[row * 4 + static_cast<size_t>(head)] ==
            doctest::Approx(expected).epsilon(1e-6));
    }
  }
  const auto empty = result.out.begin() + 2 * 4 * kDim;
  CHECK(std::all_of(empty, empty + 2 * 4 * kDim, [](uint16_t value) { return value == 0; }));
  CHECK(std::none_of(result.out.begin(), result.out.end(),
                     [](uint16_t value) { return (value & 0x7FFF) > 0x7F80; }));
}

TEST_CASE("operator: every row has the same bits in a batch and alone") {
  const StreamScope stream;
  const std::vector<std::pair<int32_t, int32_t>> requests = {{1, 100}, {4, 77}, {2, 128}, {3, 3}};
  const OperatorCall all = MakeCall(requests, 2);
  const OperatorResult together = Run(all, stream);
  REQUIRE(together.code == ACL_SUCCESS);
  for (size_t i = 0; i < requests.size(); ++i) {
    OperatorCall one = MakeCall({requests[i]}, 2);
    one.ori_kv = all.ori_kv;
    one.cmp_kv = all.cmp_kv;
    const size_t first = static_cast<size_t>(all.cu_seqlens_q[i]);
    const size_t row_elements = static_cast<size_t>(all.heads * kDim);
    const auto begin = all.q.begin() + static_cast<int64_t>(first * row_elements);
    std::copy_n(begin, one.q.size(), one.q.begin());
    std::copy_n(all.ori_table.begin() + static_cast<int64_t>(i) * all.columns, all.columns,
                one.ori_table.begin());
    std::copy_n(all.cmp_table.begin() + static_cast<int64_t>(i) * all.columns, all.columns,
                one.cmp_table.begin());
    const OperatorResult alone = Run(one, stream);
    REQUIRE(alone.code == ACL_SUCCESS);
    CHECK(std::equal(alone.out.begin(), alone.out.end(),
                     together.out.begin() + static_cast<int64_t>(first * row_elements)));
  }
}

TEST_CASE("operator: metadata of another call is refused in words, the next good call works") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{2, 60}, {1, 90}}, 3);
  const OperatorResult good = Run(call, stream);
  REQUIRE(good.code == ACL_SUCCESS);

  struct Row {
    void (*spoil)(OperatorCall*);
    const char* text;
  };
  const Row rows[] = {
      {[](OperatorCall* c) { c->seqused_ori_kv[0] = 59; }, "other values of seqused_ori_kv"},
      {[](OperatorCall* c) { c->cu_seqlens_q = {0, 1, 3}; }, "other values of cu_seqlens_q"},
      {[](OperatorCall* c) { c->has_cmp = false; }, "has_cmp_kv 1, this call has 0"},
      {[](OperatorCall* c) { c->cmp_ratio = 8; }, "cmp_ratio 4, this call has 8"},
      {[](OperatorCall* c) { c->metadata[1] = 1; }, "records were changed"},
      {[](OperatorCall* c) { c->metadata[900] = 0; }, "no magic number"},
      {[](OperatorCall* c) { c->metadata[901] = 99; }, "format version 99"},
      {[](OperatorCall* c) { c->metadata[1023] = 5; }, "word 1023 is 5, must be 0"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    OperatorCall other = call;
    other.metadata = good.metadata;
    row.spoil(&other);
    const OperatorResult result = Run(other, stream, {.plan = false});
    CHECK(result.code == ACL_ERROR_RT_AICPU_EXCEPTION);
    CHECK(result.text.find(row.text) != std::string::npos);
    CHECK(result.text.find("aclnnSparseFlashMla") != std::string::npos);
  }
  call.metadata = good.metadata;
  CHECK(Run(call, stream, {.plan = false}).out == good.out);
}

TEST_CASE("operator: a needed page out of range is named, an unneeded one does not matter") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{1, 20}, {1, 40}}, 4);
  const OperatorResult clean = Run(call, stream);
  for (const int32_t page : {-1, 32, INT32_MAX, INT32_MIN}) {
    OperatorCall bad = call;
    bad.ori_table[8 + 2] = page;  // tokens 32..47 of request 1
    const OperatorResult result = Run(bad, stream);
    CHECK(result.code == ACL_ERROR_RT_AICORE_EXCEPTION);
    CHECK(result.text.find("ori_block_table[1, 2]: page " + std::to_string(page)) !=
          std::string::npos);
    OperatorCall unneeded = call;
    unneeded.ori_table[8 + 3] = page;
    unneeded.ori_table[2] = page;
    CHECK(Run(unneeded, stream).out == clean.out);
  }
}

TEST_CASE("operator: a junk length does not keep the planner busy") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{1, 20}}, 7);
  call.cu_seqlens_q[1] = INT32_MAX;
  const OperatorResult result = Run(call, stream);
  CHECK(result.plan_code == ACL_ERROR_RT_AICPU_EXCEPTION);
  CHECK(result.text.find("cu_seqlens_q: 2147483647 query rows in all, must be at most 67108864") !=
        std::string::npos);
}

// Values a broken caller may leave in int32 arrays.
int32_t Junk(std::mt19937* random) {
  constexpr int32_t kNasty[] = {0, -1, 1, -2, 7, 128, 2147480000, INT32_MAX, INT32_MIN, 65536};
  return kNasty[(*random)() % std::size(kNasty)];
}

TEST_CASE("operator: junk in device arrays never reads or writes outside them") {
  const StreamScope stream;
  const OperatorCall good = MakeCall({{2, 30}, {1, 100}, {3, 64}}, 5);
  const OperatorResult expected = Run(good, stream);
  std::mt19937 random(6);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    OperatorCall call = good;
    std::vector<int32_t>* arrays[] = {
        &call.cu_seqlens_q, &call.seqused_ori_kv, &call.seqused_cmp_kv, &call.cmp_residual_kv,
        &call.ori_table,    &call.cmp_table,      &call.cmp_indices};
    std::vector<int32_t>& victim = *arrays[random() % std::size(arrays)];
    for (int i = 0; i < 3; ++i) victim[random() % victim.size()] = Junk(&random);
    // Half of the time past the planner's checks, with the plan of the good call.
    call.metadata = expected.metadata;
    const OperatorResult result = Run(call, stream, {.plan = round % 2 == 0});
    refused += result.plan_code != 0 || result.code != 0;
    if (result.code != 0) CHECK(result.text.find("aclnnSparseFlashMla") != std::string::npos);
  }
  CHECK(refused > 50);
  CHECK(Run(good, stream).out == expected.out);
}

TEST_CASE("operator: callers on several threads and streams") {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  std::atomic<int> same{0};
  std::vector<std::thread> threads;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([seed, &same] {
      const StreamScope stream;
      const OperatorCall call = MakeCall({{2, 90}, {1, 128}, {2, 17}}, seed);
      const OperatorResult first = Run(call, stream);
      for (int round = 0; round < 5; ++round) same += Run(call, stream).out == first.out;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same.load() == 4 * 5);
  aclrtResetDevice(0);
}

}  // namespace
}  // namespace sfmla::test
