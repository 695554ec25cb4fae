// SPDX-License-Identifier: Apache-2.0
// The whole path of SparseAttnSharedkv and its planner. Its numbers are those of SparseFlashMla,
// bit for bit; here is what it has of its own. Numbers at large are judged in tests/python.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "aclnn/opdev/op_errno.h"
#include "op_kernel/sparse_attn_sharedkv_metadata/metadata_layout.h"
#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

// Decode, several rows, more rows than tokens, no tokens, no rows.
const std::vector<std::pair<int32_t, int32_t>> kRequests = {{1, 100}, {4, 77}, {2, 128},
                                                            {5, 3},   {2, 0},  {0, 30}};

// The call of SparseFlashMla with all groups instead of the list: the list of all groups in order.
OperatorCall WithListOfAll(OperatorCall call) {
  call.topk = 64;
  call.cmp_indices.clear();
  for (int64_t i = 0; i < call.rows * call.topk; ++i) {
    call.cmp_indices.push_back(static_cast<int32_t>(i % call.topk));
  }
  return call;
}

TEST_CASE("shared kv: the bits are those of the SparseFlashMla call it maps to") {
  const StreamScope stream;
  OperatorCall call = MakeCall(kRequests, 11);
  for (const bool has_cmp : {true, false}) {
    call.has_cmp = has_cmp;
    const OperatorResult expected = Run(call, stream);
    const OperatorResult found = RunSharedKv(call, stream);
    REQUIRE(expected.code == ACL_SUCCESS);
    REQUIRE(found.plan_code == ACL_SUCCESS);
    INFO(found.text);
    REQUIRE(found.code == ACL_SUCCESS);
    CHECK(found.out == expected.out);
    CHECK(found.lse == expected.lse);
  }
  call.has_cmp = true;
  const OperatorResult dense = RunSharedKv(call, stream, {.dense = true});
  const OperatorResult all_listed = RunSharedKv(WithListOfAll(call), stream);
  REQUIRE(dense.code == ACL_SUCCESS);
  CHECK(dense.out == all_listed.out);
  CHECK(dense.lse == all_listed.lse);
}

TEST_CASE("shared kv: with q = 0 the LSE counts the visible keys") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{2, 30}, {1, 0}, {3, 2}}, 1, true);
  std::fill(call.sinks.begin(), call.sinks.end(), 0.0f);
  const auto check = [&](const OperatorResult& result, std::initializer_list<double> keys) {
    REQUIRE(result.code == ACL_SUCCESS);
    size_t row = 0;
    for (const double count : keys) {
      CAPTURE(row);
      CHECK(result.lse[4 * row++] ==
            doctest::Approx(count == 0 ? 0.0 : std::log(count + 1)).epsilon(1e-6));
    }
  };
  // 30 tokens: rows at positions 28 and 29 see 29 and 30 tokens and 7 complete groups of 4.
  check(RunSharedKv(call, stream), {29 + 7, 30 + 7, 0, 0, 1, 2});
  // A right window reaches one token more, but shows nothing to the row before the first token.
  check(RunSharedKv(call, stream, {.window_right = 1}), {30 + 7, 30 + 7, 0, 0, 2, 2});
  // One used row: it stands at the last token, and padded rows are 0.
  check(RunSharedKv(call, stream, {.seqused_q = {1, 1, 2}}), {30 + 7, 0, 0, 1, 2, 0});
}

TEST_CASE("shared kv: metadata is a hint, whoever wrote it") {
  const StreamScope stream;
  OperatorCall call = MakeCall(kRequests, 12);
  const OperatorResult good = RunSharedKv(call, stream);
  REQUIRE(good.code == ACL_SUCCESS);
  std::mt19937 random(5);
  std::vector<int32_t> junk(1024);
  for (int32_t& word : junk) word = static_cast<int32_t>(random());
  std::vector<int32_t> other_records = good.metadata;
  std::fill_n(other_records.begin(), kSharedKvHeaderBegin, 7);
  std::vector<int32_t> other_version = good.metadata;
  other_version[kSharedKvHeaderBegin + 1] = 99;
  other_version[kSharedKvHeaderBegin + 2] = -1;
  for (const auto& words : {std::vector<int32_t>(1024), junk, other_records, other_version}) {
    call.metadata = words;
    const OperatorResult result = RunSharedKv(call, stream, {.plan = false});
    INFO(result.text);
    CHECK(result.code == ACL_SUCCESS);
    CHECK(result.out == good.out);
    CHECK(result.metadata == words);
  }
}

TEST_CASE("shared kv: our plan of another call is refused in words, the next good call works") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{2, 60}, {1, 90}}, 3);
  const OperatorResult good = RunSharedKv(call, stream);
  REQUIRE(good.code == ACL_SUCCESS);
  call.metadata = good.metadata;
  struct Row {
    void (*spoil)(OperatorCall*);
    const char* text;
  };
  const Row rows[] = {
      {[](OperatorCall* c) { c->seqused_ori_kv[0] = 59; }, "other values of seqused_kv"},
      {[](OperatorCall* c) { c->cu_seqlens_q = {0, 1, 3}; }, "other values of cu_seqlens_q"},
      {[](OperatorCall* c) { c->has_cmp = false; }, "has_cmp_kv 1, this call has 0"},
      {[](OperatorCall* c) { c->cmp_ratio = 8; }, "cmp_ratio 4, this call has 8"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    OperatorCall other = call;
    row.spoil(&other);
    const OperatorResult result = RunSharedKv(other, stream, {.plan = false});
    CHECK(result.code == ACL_ERROR_RT_AICPU_EXCEPTION);
    CHECK(result.text.find(row.text) != std::string::npos);
    CHECK(result.text.find("aclnnSparseAttnSharedkv") != std::string::npos);
  }
  const OperatorResult wider = RunSharedKv(call, stream, {.plan = false, .window_right = 2});
  CHECK(wider.text.find("ori_win_right 0, this call has 2") != std::string::npos);
  CHECK(RunSharedKv(call, stream, {.plan = false}).out == good.out);
}

TEST_CASE("shared kv: stride attributes say where the pages are") {
  const StreamScope stream;
  const OperatorCall call = MakeCall({{2, 60}, {1, 90}}, 4);
  const OperatorResult expected = RunSharedKv(call, stream);
  // Twice as far apart: page i of `call` is page 2i here, and half as many pages are described.
  OperatorCall apart = call;
  const auto spread = [](std::vector<uint16_t>* pool, int64_t pages, int64_t page_elements) {
    std::vector<uint16_t> out(static_cast<size_t>(2 * pages * page_elements), 0x7FC0);
    for (int64_t page = 0; page < pages; ++page) {
      std::copy_n(pool->begin() + page * page_elements, page_elements,
                  out.begin() + 2 * page * page_elements);
    }
    *pool = out;
  };
  spread(&apart.ori_kv, call.ori_pages, call.ori_block * kDim);
  spread(&apart.cmp_kv, call.cmp_pages, call.cmp_block * kDim);
  const OperatorResult found = RunSharedKv(
      apart, stream,
      {.ori_stride = 2 * call.ori_block * kDim, .cmp_stride = 2 * call.cmp_block * kDim});
  REQUIRE(found.code == ACL_SUCCESS);
  CHECK(found.out == expected.out);
}

TEST_CASE("shared kv: a stride that leads out of the allocation is refused") {
  const StreamScope stream;
  const OperatorCall call = MakeCall({{1, 20}}, 4);
  const DeviceTensor q(call.q, {1, call.heads, kDim}, ACL_BF16);
  const DeviceTensor kv(call.ori_kv, {call.ori_pages, call.ori_block, 1, kDim}, ACL_BF16);
  const DeviceTensor table(call.ori_table, {1, call.columns}, ACL_INT32);
  const DeviceTensor cu(call.cu_seqlens_q, {2}, ACL_INT32);
  const DeviceTensor used(call.seqused_ori_kv, {1}, ACL_INT32);
  const DeviceTensor sinks(call.sinks, {call.heads}, ACL_FLOAT);
  const DeviceTensor metadata(call.metadata, {1024}, ACL_INT32);
  const DeviceTensor out(call.q, {1, call.heads, kDim}, ACL_BF16);
  const DeviceTensor lse(std::vector<float>(), {0}, ACL_FLOAT);
  char layout_q[] = "TND";
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const auto phase_one = [&](int64_t stride) {
    return aclnnSparseAttnSharedkvGetWorkspaceSize(
        q.get(), kv.get(), nullptr, nullptr, nullptr, table.get(), nullptr, cu.get(), nullptr,
        nullptr, nullptr, used.get(), sinks.get(), metadata.get(), 1.0, 1, 4, 3, stride, 0, 127, 0,
        layout_q, nullptr, false, out.get(), lse.get(), &bytes, &executor);
  };
  CHECK(phase_one(2 * call.ori_block * kDim) == ACLNN_ERR_PARAM_INVALID);
  CHECK(std::string(aclGetRecentErrMsg()).find("ori_kv") != std::string::npos);
  REQUIRE(phase_one(0) == ACL_SUCCESS);
  CHECK(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS);
}

TEST_CASE("shared kv: bad values are named as this operator names them") {
  const StreamScope stream;
  OperatorCall call = MakeCall({{1, 20}, {1, 40}}, 4);
  call.seqused_ori_kv[1] = 129;
  OperatorResult result = RunSharedKv(call, stream, {.plan = false});
  CHECK(result.code == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(result.text.find("seqused_kv[1]: 129, must be in [0, 128]") != std::string::npos);
  call.seqused_ori_kv[1] = -1;
  result = RunSharedKv(call, stream);
  CHECK(result.plan_code == ACL_ERROR_RT_AICPU_EXCEPTION);
  CHECK(result.text.find("seqused_kv[1]: -1") != std::string::npos);
  CHECK(result.metadata == std::vector<int32_t>(1024));
  call.seqused_ori_kv[1] = 40;
  call.cmp_table[8] = 77;  // request 1, groups 0..7
  result = RunSharedKv(call, stream);
  CHECK(result.code == ACL_ERROR_RT_AICORE_EXCEPTION);
  CHECK(result.text.find("cmp_block_table[1, 0]: page 77") != std::string::npos);
}

TEST_CASE("shared kv planner: published records, every word written") {
  const StreamScope stream;
  REQUIRE(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 24) == ACL_SUCCESS);
  // The published partition of 24 cores, 64 heads, top-k 512 and ratio 4 for these requests.
  OperatorCall call = MakeCall({{1, 100}, {0, 7}, {5, 0}, {2, 5000}, {1, 1}}, 1);
  const DeviceTensor cu(call.cu_seqlens_q, {6}, ACL_INT32);
  const DeviceTensor used(call.seqused_ori_kv, {5}, ACL_INT32);
  const DeviceTensor metadata(call.metadata, {1024}, ACL_INT32);
  char layout_q[] = "TND";
  char layout_kv[] = "PA_ND";
  uint64_t bytes = 7;
  aclOpExecutor* executor = nullptr;
  REQUIRE(aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
              cu.get(), nullptr, nullptr, nullptr, used.get(), 64, 1, 512, 5, 5, 5000, 0, 512, 4, 4,
              3, 127, 0, layout_q, layout_kv, true, true, metadata.get(), &bytes,
              &executor) == ACL_SUCCESS);
  CHECK(bytes == 0);
  REQUIRE(aclnnSparseAttnSharedkvMetadata(nullptr, 0, executor, stream.get()) == ACL_SUCCESS);
  REQUIRE(stream.Synchronize() == ACL_SUCCESS);

  const std::vector<int32_t> words = metadata.Values<int32_t>();
  const std::pair<int32_t, int32_t> ends[] = {{3, 0}, {3, 1}, {4, 0}, {5, 0}};
  for (size_t core = 0; core < 36; ++core) {
    CAPTURE(core);
    CHECK(words[8 * core] == (core < 4 ? 1 : 0));
    if (core >= 4) continue;
    CHECK(words[8 * core + 4] == ends[core].first);
    CHECK(words[8 * core + 5] == ends[core].second);
  }
  CHECK(std::all_of(words.begin() + 4 * 8, words.begin() + kSharedKvHeaderBegin,
                    [](int32_t word) { return word == 0; }));
  CHECK(words[kSharedKvHeaderBegin] == static_cast<int32_t>(kSharedKvMagic));
  CHECK(words.back() == 0);
}

TEST_CASE("shared kv planner: NULL result pointers") {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
            nullptr, nullptr, nullptr, nullptr, nullptr, 64, 1, 512, 1, 1, 1, 0, 0, 1, 4, 3, 127, 0,
            nullptr, nullptr, true, false, nullptr, nullptr, &executor) == ACLNN_ERR_INNER_NULLPTR);
  CHECK(aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
            nullptr, nullptr, nullptr, nullptr, nullptr, 64, 1, 512, 1, 1, 1, 0, 0, 1, 4, 3, 127, 0,
            nullptr, nullptr, true, false, nullptr, &bytes, nullptr) == ACLNN_ERR_INNER_NULLPTR);
  CHECK(aclnnSparseAttnSharedkvGetWorkspaceSize(
            nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, nullptr, nullptr, 1.0, 1, 4, 3, 0, 0, 127, 0, nullptr,
            nullptr, false, nullptr, nullptr, nullptr, &executor) == ACLNN_ERR_PARAM_NULLPTR);
}

}  // namespace
}  // namespace sfmla::test
