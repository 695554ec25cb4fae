// SPDX-License-Identifier: Apache-2.0
// The whole path of SparseFlashAttention, V1 and V2. Numbers at large are judged in tests/python.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aclnn/opdev/fp16_t.h"
#include "aclnn/opdev/op_errno.h"
#include "aclnnop/aclnn_sparse_flash_attention.h"
#include "aclnnop/aclnn_sparse_flash_attention_v2.h"
#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

char kPackedRows[] = "TND";
constexpr int64_t kHeads = 16;
constexpr int64_t kTokens = 2048;

// One row of all ones over 2048 tokens of all ones, as the published programs have it.
struct AllOnes {
  AllOnes()
      : ones(op::fp16_t(1.0f).val),
        query(Ones(kHeads * 512), {1, kHeads, 512}, ACL_FLOAT16),
        key(Ones(kTokens * 512), {kTokens, 1, 512}, ACL_FLOAT16),
        query_rope(Ones(kHeads * 64), {1, kHeads, 64}, ACL_FLOAT16),
        key_rope(Ones(kTokens * 64), {kTokens, 1, 64}, ACL_FLOAT16),
        indices(Positions(), {1, 1, kTokens}, ACL_INT32),
        query_ends(std::vector<int32_t>{1}, {1}, ACL_INT32),
        kv_ends(std::vector<int32_t>{static_cast<int32_t>(kTokens)}, {1}, ACL_INT32),
        sinks(std::vector<float>(kHeads, 0.0f), {kHeads}, ACL_FLOAT),
        // Poison: NaN in all three.
        out(std::vector<uint16_t>(kHeads * 512, 0x7E00), {1, kHeads, 512}, ACL_FLOAT16),
        max(std::vector<float>(kHeads, NAN), {1, 1, kHeads}, ACL_FLOAT),
        sum(std::vector<float>(kHeads, NAN), {1, 1, kHeads}, ACL_FLOAT) {}

  std::vector<uint16_t> Ones(int64_t count) const {
    return std::vector<uint16_t>(static_cast<size_t>(count), ones);
  }
  static std::vector<int32_t> Positions() {
    std::vector<int32_t> out(kTokens);
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  uint16_t ones;
  DeviceTensor query, key, query_rope, key_rope, indices, query_ends, kv_ends, sinks, out, max, sum;
};

aclnnStatus PlanV1(const AllOnes& t, bool statistics, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnSparseFlashAttentionGetWorkspaceSize(
      t.query.get(), t.key.get(), t.key.get(), t.indices.get(), nullptr, t.query_ends.get(),
      t.kv_ends.get(), t.query_rope.get(), t.key_rope.get(), 1.0 / 24, 1, kPackedRows, kPackedRows,
      0, INT64_MAX, INT64_MAX, 2, statistics, t.out.get(), statistics ? t.max.get() : nullptr,
      statistics ? t.sum.get() : nullptr, bytes, executor);
}

aclnnStatus PlanV2(const AllOnes& t, const aclTensor* sinks, uint64_t* bytes,
                   aclOpExecutor** executor) {
  return aclnnSparseFlashAttentionV2GetWorkspaceSize(
      t.query.get(), t.key.get(), nullptr, t.indices.get(), nullptr, t.query_ends.get(),
      t.kv_ends.get(), t.query_rope.get(), t.key_rope.get(), sinks, 1.0 / 24, 1, kPackedRows,
      kPackedRows, 0, INT64_MAX, INT64_MAX, 2, true, t.out.get(), t.max.get(), t.sum.get(), bytes,
      executor);
}

void Execute(decltype(&aclnnSparseFlashAttention) phase_two, uint64_t bytes,
             aclOpExecutor* executor, const StreamScope& stream) {
  void* workspace = nullptr;
  REQUIRE(aclrtMalloc(&workspace, std::max<uint64_t>(bytes, 1), ACL_MEM_MALLOC_HUGE_FIRST) == 0);
  REQUIRE(phase_two(workspace, bytes, executor, stream.get()) == 0);
  REQUIRE(stream.Synchronize() == 0);
  aclrtFree(workspace);
}

// Every score is (512 + 64) / 24 = 24, so every weight is the same and the output 1.
void CheckClosedForm(const AllOnes& t, double sum) {
  for (const uint16_t value : t.out.Values<uint16_t>()) CHECK(value == t.ones);
  for (const float value : t.max.Values<float>()) CHECK(value == doctest::Approx(24.0));
  for (const float value : t.sum.Values<float>()) CHECK(value == doctest::Approx(sum));
}

TEST_CASE("sparse flash attention: the closed form of all ones, V1 and V2") {
  const StreamScope stream;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  {
    const AllOnes t;
    REQUIRE(PlanV1(t, true, &bytes, &executor) == 0);
    Execute(aclnnSparseFlashAttention, bytes, executor, stream);
    CheckClosedForm(t, 2048);
  }
  {
    const AllOnes t;
    REQUIRE(PlanV2(t, t.sinks.get(), &bytes, &executor) == 0);
    Execute(aclnnSparseFlashAttentionV2, bytes, executor, stream);
    CheckClosedForm(t, 2048 + std::exp(-24.0));
  }
}

TEST_CASE("sparse flash attention: without statistics both tensors may be NULL") {
  const StreamScope stream;
  const AllOnes t;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(PlanV1(t, false, &bytes, &executor) == 0);
  Execute(aclnnSparseFlashAttention, bytes, executor, stream);
  for (const uint16_t value : t.out.Values<uint16_t>()) CHECK(value == t.ones);
  for (const float value : t.max.Values<float>()) CHECK(std::isnan(value));
}

TEST_CASE("sparse flash attention: V2 without sinks has the bits of V1") {
  const StreamScope stream;
  const AllOnes v1, v2;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(PlanV1(v1, true, &bytes, &executor) == 0);
  Execute(aclnnSparseFlashAttention, bytes, executor, stream);
  REQUIRE(PlanV2(v2, nullptr, &bytes, &executor) == 0);
  Execute(aclnnSparseFlashAttentionV2, bytes, executor, stream);
  CHECK(v1.out.Values<uint16_t>() == v2.out.Values<uint16_t>());
  CHECK(v1.max.Values<float>() == v2.max.Values<float>());
  CHECK(v1.sum.Values<float>() == v2.sum.Values<float>());
}

TEST_CASE("sparse flash attention: a bad length is named by tensor, position and value") {
  const StreamScope stream;
  const AllOnes t;
  static_cast<int32_t*>(t.kv_ends.data())[0] = 3000;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(PlanV1(t, false, &bytes, &executor) == 0);
  void* workspace = nullptr;
  REQUIRE(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
  REQUIRE(aclnnSparseFlashAttention(workspace, bytes, executor, stream.get()) == 0);
  std::string text;
  CHECK(stream.Synchronize(&text) == 507015);
  CHECK(text.find(
            "aclnnSparseFlashAttention: actual_seq_lengths_kv[0]: 3000, must be at most 2048") !=
        std::string::npos);
  aclrtFree(workspace);
}

}  // namespace
}  // namespace sfmla::test
