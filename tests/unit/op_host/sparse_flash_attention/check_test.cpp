// SPDX-License-Identifier: Apache-2.0
// Each refusal once, with its code and its sentence. What all operators of the family refuse in the
// same words is tested once more only where this one has a rule of its own.
#include "op_host/sparse_flash_attention/check.h"

#include <doctest/doctest.h>

#include <cmath>

#include "op_host/sparse_flash_attention/tiling.h"
#include "unit/op_host/editable_call.h"

namespace sfmla {
namespace {

using namespace sparse_flash_operand;
using test::Absent;
using test::TensorOf;

constexpr int32_t kNull = code::kAclnnParamNullptr;
constexpr int32_t kInvalid = code::kAclnnParamInvalid;

// Decode of two requests with six rows, packed queries, paged caches; every product takes it.
struct Call : test::EditableCall<SparseFlashAttentionArgs> {
  Call() {
    operands = {
        TensorOf("query", ACL_BF16, {6, 16, 512}),
        TensorOf("key", ACL_BF16, {9, 128, 1, 512}),
        TensorOf("value", ACL_BF16, {9, 128, 1, 512}),
        TensorOf("sparse_indices", ACL_INT32, {6, 1, 32}),
        TensorOf("block_table", ACL_INT32, {2, 4}),
        TensorOf("actual_seq_lengths_query", ACL_INT32, {2}),
        TensorOf("actual_seq_lengths_kv", ACL_INT32, {2}),
        TensorOf("query_rope", ACL_BF16, {6, 16, 64}),
        TensorOf("key_rope", ACL_BF16, {9, 128, 1, 64}),
        Absent("sinks"),
        TensorOf("attention_out", ACL_BF16, {6, 16, 512}),
        Absent("softmax_max"),
        Absent("softmax_sum"),
    };
    op_name = "aclnnSparseFlashAttention";
    layout_query = "TND";
    layout_kv = "PA_BSND";
  }
  // BSND queries and caches of 2 requests, 3 rows and 100 tokens.
  void MakeBatched() {
    for (const Slot slot : {kBlockTable, kActualSeqLengthsQuery, kActualSeqLengthsKv}) Remove(slot);
    Replace(kQuery, ACL_BF16, {2, 3, 16, 512});
    Replace(kQueryRope, ACL_BF16, {2, 3, 16, 64});
    Replace(kAttentionOut, ACL_BF16, {2, 3, 16, 512});
    Replace(kSparseIndices, ACL_INT32, {2, 3, 1, 32});
    Replace(kKey, ACL_BF16, {2, 100, 1, 512});
    Replace(kValue, ACL_BF16, {2, 100, 1, 512});
    Replace(kKeyRope, ACL_BF16, {2, 100, 1, 64});
    layout_query = "BSND";
    layout_kv = "BSND";
  }
  void MakePacked() {
    Remove(kBlockTable);
    Replace(kKey, ACL_BF16, {100, 1, 512});
    Replace(kValue, ACL_BF16, {100, 1, 512});
    Replace(kKeyRope, ACL_BF16, {100, 1, 64});
    layout_kv = "TND";
  }
  void ReturnStatistics() {
    return_softmax_lse = true;
    Replace(kSoftmaxMax, ACL_FLOAT, {1, 6, 16});
    Replace(kSoftmaxSum, ACL_FLOAT, {1, 6, 16});
  }
};

const test::CheckJudge<Call, decltype(&CheckSparseFlashAttention)> kJudge(
    &CheckSparseFlashAttention);

template <typename Spoil>
void CheckRefused(const Spoil& spoil, int32_t code, const std::string& text,
                  const char* product = "cpu") {
  kJudge.Refused(spoil, code, text, product);
}

TEST_CASE("sparse flash attention: the valid calls are valid for every product") {
  for (const char* product : {"cpu", "ascend910b", "ascend950"}) {
    CAPTURE(product);
    kJudge.Accepted([](Call&) {}, product);
    kJudge.Accepted([](Call& c) { c.MakeBatched(); }, product);
    kJudge.Accepted([](Call& c) { c.MakePacked(); }, product);
  }
}

TEST_CASE("sparse flash attention: what a call becomes") {
  const SparseFlashAttentionProblem problem = kJudge.Accepted([](Call& c) {
    c.sparse_block_size = 16;
    c.sparse_mode = 0;
  });
  CHECK(problem.rules.heads == 16);
  CHECK(problem.rules.ori_topk == 32);
  CHECK(problem.rules.ori_list_block == 16);
  CHECK(problem.rules.ori_mask == MaskMode::kNone);
  CHECK(problem.rules.has_rope == 1);
  CHECK(problem.batch == 2);
  CHECK(problem.query_rows == 6);
  CHECK(problem.ori.tokens == 4 * 128);
  CHECK(problem.ori_rope.token_stride == 64);
}

TEST_CASE("sparse flash attention: required tensors") {
  for (const Slot slot : {kQuery, kKey, kSparseIndices, kQueryRope, kKeyRope, kAttentionOut}) {
    const std::string name = Call().operands[slot].name;
    CheckRefused([&](Call& c) { c.Remove(slot); }, kNull, name + ": NULL, must be a tensor");
  }
  kJudge.Accepted([](Call& c) { c.Remove(kValue); });
  kJudge.Accepted([](Call& c) { c.Replace(kValue, ACL_BF16, {0}); });
  CheckRefused([](Call& c) { c.Remove(kActualSeqLengthsQuery); }, kNull,
               "actual_seq_lengths_query: absent, must be given with layout_query TND");
  CheckRefused([](Call& c) { c.Remove(kActualSeqLengthsKv); }, kNull,
               "actual_seq_lengths_kv: absent, must be given with layout_kv PA_BSND");
  CheckRefused([](Call& c) { c.Remove(kBlockTable); }, kNull,
               "block_table: absent, must be given with layout_kv PA_BSND");
  CheckRefused(
      [](Call& c) {
        c.MakePacked();
        c.Remove(kActualSeqLengthsKv);
      },
      kNull, "actual_seq_lengths_kv: absent, must be given with layout_kv TND");
  CheckRefused(
      [](Call& c) {
        c.MakeBatched();
        c.Replace(kBlockTable, ACL_INT32, {2, 4});
      },
      kInvalid, "block_table: given, must be absent unless layout_kv is PA_BSND");
}

TEST_CASE("sparse flash attention: softmax results") {
  kJudge.Accepted([](Call& c) { c.ReturnStatistics(); });
  kJudge.Accepted([](Call& c) { c.Replace(kSoftmaxMax, ACL_FLOAT, {7}); });
  for (const Slot slot : {kSoftmaxMax, kSoftmaxSum}) {
    const std::string name = Call().operands[slot].name;
    CheckRefused(
        [&](Call& c) {
          c.ReturnStatistics();
          c.Remove(slot);
        },
        kNull, name + ": NULL, must be a tensor when return_softmax_lse is true");
    CheckRefused(
        [&](Call& c) {
          c.ReturnStatistics();
          c.Replace(slot, ACL_FLOAT, {6, 16, 1});
        },
        kInvalid, name + ": axis 0 (N2) is 6, must be 1 (one key/value head)");
  }
}

TEST_CASE("sparse flash attention: attributes") {
  const std::string block_text = ", must be a power of two in [1, 128]";
  for (const int64_t size : {0, 3, 256}) {
    CheckRefused([&](Call& c) { c.sparse_block_size = size; }, kInvalid,
                 "sparse_block_size: " + std::to_string(size) + block_text);
  }
  CheckRefused([](Call& c) { c.sparse_mode = 1; }, kInvalid,
               "sparse_mode: 1, must be 0 (no mask) or 3 (causal)");
  CheckRefused([](Call& c) { c.attention_mode = 0; }, kInvalid,
               "attention_mode: 0, must be 2 (the rotary part in tensors of its own)");
  CheckRefused([](Call& c) { c.pre_tokens = 5; }, kInvalid,
               "pre_tokens: 5, must be 9223372036854775807 (unlimited)");
  CheckRefused([](Call& c) { c.next_tokens = 0; }, kInvalid,
               "next_tokens: 0, must be 9223372036854775807 (unlimited)");
  CheckRefused([](Call& c) { c.scale_value = std::nan(""); }, kInvalid,
               "scale_value: nan, must be finite as a float");
  const auto huge = [](Call& c) {  // with strides that are not followed
    for (const size_t axis : {0, 1}) c[kKey].desc.dims[axis] = INT32_MAX;
    c[kKey].desc.strides[3] = 2;
  };
  CheckRefused(huge, kInvalid,
               "key: extents (2147483647, 2147483647, 1, 512) multiply to more than 2^63 elements");
  CheckRefused([](Call& c) { c.layout_query = "NTD"; }, kInvalid,
               "layout_query: 'NTD', must be BSND or TND");
  CheckRefused([](Call& c) { c.layout_kv = "BSND"; }, kInvalid,
               "layout_kv: BSND with layout_query TND, must be TND or PA_BSND");
}

TEST_CASE("sparse flash attention: types and extents") {
  CheckRefused([](Call& c) { c.Replace(kQuery, ACL_FLOAT, {6, 16, 512}); }, kInvalid,
               "query: dtype FLOAT, must be FLOAT16 or BFLOAT16");
  CheckRefused([](Call& c) { c.Replace(kKeyRope, ACL_FLOAT16, {9, 128, 1, 64}); }, kInvalid,
               "key_rope: dtype FLOAT16, must be BFLOAT16 as query");
  CheckRefused([](Call& c) { c.Replace(kQueryRope, ACL_BF16, {6, 16, 512}); }, kInvalid,
               "query_rope: axis 2 (Dr) is 512, must be 64 (the rotary part)");
  CheckRefused([](Call& c) { c.Replace(kQueryRope, ACL_BF16, {6, 1, 64}); }, kInvalid,
               "query_rope: axis 1 (N1) is 1, must be 16 as in query");
  CheckRefused([](Call& c) { c.Replace(kValue, ACL_BF16, {8, 128, 1, 512}); }, kInvalid,
               "value: axis 0 (pages) is 8, must be 9 as in key");
  CheckRefused([](Call& c) { c.Replace(kKeyRope, ACL_BF16, {9, 64, 1, 64}); }, kInvalid,
               "key_rope: axis 1 (tokens) is 64, must be 128 as in key");
  for (const int64_t tokens : {0, 1025}) {
    CheckRefused(
        [&](Call& c) { c.Replace(kKey, ACL_BF16, {9, tokens, 1, 512}); }, kInvalid,
        "key: axis 1 (block size) is " + std::to_string(tokens) + ", must be in [1, 1024]");
  }
  CheckRefused([](Call& c) { c.Replace(kBlockTable, ACL_INT32, {2, 4, 1}); }, kInvalid,
               "block_table: rank 3, must be 2 (B, pages per request)");
  CheckRefused([](Call& c) { c.Replace(kSinks, ACL_FLOAT, {15}); }, kInvalid,
               "sinks: axis 0 (N1) is 15, must be 16 as in query");
  CheckRefused([](Call& c) { c.Replace(kSparseIndices, ACL_INT32, {6, 1, 0}); }, kInvalid,
               "sparse_indices: last axis is 0, must be at least 1");
}

TEST_CASE("sparse flash attention: caches are read in place where their strides allow it") {
  const auto plan = [](const auto& spoil) {
    Call call;
    spoil(call);
    const auto problem = CheckSparseFlashAttention(call, AllProductRules().front());
    INFO(problem.status().text());
    REQUIRE(problem.ok());
    return PlanSparseFlashAttention(call, problem.value(), {2, 16, 512});
  };
  CHECK(plan([](Call&) {}).copies.empty());
  // Key and rotary part of a token side by side, as one cache of 576 elements holds them.
  const Launch in_place = plan([](Call& c) {
    for (const Slot slot : {kKey, kValue, kKeyRope}) {
      c[slot].desc.strides = {128 * 576, 576, 576, 1};
    }
  });
  CHECK(in_place.copies.empty());
  const Launch copied = plan([](Call& c) { c[kKey].desc.strides = {512 * 128, 1, 1, 128}; });
  REQUIRE(copied.copies.size() == 1);
  CHECK(copied.copies[0].operand == kKey);
}

TEST_CASE("sparse flash attention: what products refuse") {
  CheckRefused(
      [](Call& c) { c.ReturnStatistics(); }, kInvalid,
      "return_softmax_lse: true, must be false with layout_kv PA_BSND (rules of ascend910b)",
      "ascend910b");
  CheckRefused([](Call& c) { c.Replace(kSinks, ACL_FLOAT, {16}); }, kInvalid,
               "sinks: given, must be absent (rules of ascend910b)", "ascend910b");
  CheckRefused([](Call& c) { c.Replace(kSinks, ACL_FLOAT, {16}); }, kInvalid,
               "sinks: given with layout_kv PA_BSND, must be absent (rules of ascend950)",
               "ascend950");
  CheckRefused([](Call& c) { c.sparse_block_size = 2; }, kInvalid,
               "sparse_block_size: 2, must be at most 1 (rules of ascend950)", "ascend950");
  const auto with_page = [](int64_t tokens) {
    return [tokens](Call& c) {
      c.Replace(kKey, ACL_BF16, {9, tokens, 1, 512});
      c.Replace(kValue, ACL_BF16, {9, tokens, 1, 512});
      c.Replace(kKeyRope, ACL_BF16, {9, tokens, 1, 64});
      c.sparse_block_size = tokens == 16 ? 32 : 1;
    };
  };
  CheckRefused(with_page(24), kInvalid,
               "key: block size 24, must be a multiple of 16 (rules of ascend910b)", "ascend910b");
  CheckRefused(
      with_page(16), kInvalid,
      "key: block size 16, must be a multiple of sparse_block_size 32 (rules of ascend910b)",
      "ascend910b");
  CheckRefused(
      [](Call& c) {
        c.Replace(kQuery, ACL_BF16, {6, 12, 512});
        c.Replace(kQueryRope, ACL_BF16, {6, 12, 64});
        c.Replace(kAttentionOut, ACL_BF16, {6, 12, 512});
      },
      kInvalid, "query heads N1: 12, must be a power of two (rules of ascend910b)", "ascend910b");
}

TEST_CASE("sparse flash attention: what products refuse of calls without rows") {
  const auto no_rows = [](Call& c) {
    c.Replace(kQuery, ACL_BF16, {0, 16, 512});
    c.Replace(kQueryRope, ACL_BF16, {0, 16, 64});
    c.Replace(kSparseIndices, ACL_INT32, {0, 1, 32});
    c.Replace(kAttentionOut, ACL_BF16, {0, 16, 512});
  };
  kJudge.Accepted(no_rows);
  for (const std::string product : {"ascend910b", "ascend950"}) {
    CheckRefused(
        no_rows, kInvalid,
        "query: no requests or no packed rows, must have at least one (rules of " + product + ")",
        product.c_str());
  }
}

// The calls that the platform's own checks are tried with, by number.
TEST_CASE("sparse flash attention: the published unit-test rows") {
  const auto refused = [](const auto& spoil) {
    Call call;
    spoil(call);
    return !CheckSparseFlashAttention(call, test::Product("ascend910b")).ok();
  };
  CHECK(refused([](Call& c) { c.Replace(kKeyRope, ACL_BF16, {9, 128, 64, 1}); }));  // 0, 5
  CHECK(refused([](Call& c) { c.Remove(kQueryRope); }));                            // 1
  CHECK(refused([](Call& c) { c.layout_kv = "BSND"; }));                            // 2
  CHECK(refused([](Call& c) { c.attention_mode = 0; }));                            // 3
  CHECK(refused([](Call& c) { c.Replace(kQueryRope, ACL_BF16, {6, 16, 512}); }));   // 4
  CHECK(refused([](Call& c) { c.Replace(kQueryRope, ACL_BF16, {6, 1, 64}); }));     // 6
  CHECK_FALSE(refused([](Call&) {}));                                               // 7
  CHECK(refused([](Call& c) { c.Remove(kBlockTable); }));                           // 8
  CHECK(refused([](Call& c) { c.Replace(kBlockTable, ACL_INT32, {2, 4, 1}); }));    // 9
  CHECK(refused([](Call& c) { c.Replace(kBlockTable, ACL_INT32, {2, -1}); }));      // 10
  CHECK(refused([](Call& c) { c.layout_query = "BSND"; }));                         // 11
  CHECK(refused([](Call& c) {                                                       // 12
    c.MakeBatched();
    c.Replace(kBlockTable, ACL_INT32, {2, 4});
  }));
  CHECK(refused([](Call& c) { c.ReturnStatistics(); }));                        // 13
  CHECK(refused([](Call& c) { c.Replace(kQuery, ACL_FLOAT, {6, 16, 512}); }));  // 14
  CHECK(refused([](Call& c) { c.Replace(kQuery, ACL_BF16, {6, 512}); }));       // 15
  CHECK(refused([](Call& c) {                                                   // 16
    c.MakeBatched();
    c.return_softmax_lse = true;
    c.Replace(kSoftmaxMax, ACL_FLOAT, {2, 3, 16});
    c.Replace(kSoftmaxSum, ACL_FLOAT, {2, 3, 16});
  }));
  CHECK(refused([](Call& c) {  // 17
    c.MakePacked();
    c.ReturnStatistics();
    c.Replace(kSoftmaxMax, ACL_FLOAT, {6, 16, 1});
  }));
  CHECK_FALSE(refused([](Call& c) { c.MakeBatched(); }));  // 18
}

}  // namespace
}  // namespace sfmla
