// SPDX-License-Identifier: Apache-2.0
// Each refusal once, with its code and its sentence. What all operators of the family refuse in the
// same words is tested once more only where this one has a rule of its own.
#include "op_host/sparse_attn_sharedkv/check.h"

#include <doctest/doctest.h>

#include <cmath>

#include "op_host/sparse_attn_sharedkv/tiling.h"
#include "unit/op_host/editable_call.h"

namespace sfmla {
namespace {

using namespace sharedkv_operand;
using test::Absent;
using test::TensorOf;

constexpr int32_t kNull = code::kAclnnParamNullptr;
constexpr int32_t kInvalid = code::kAclnnParamInvalid;

// SCFA: TND queries, paged caches, two requests; a call that every product with the operator takes.
struct Call : test::EditableCall<SparseAttnSharedkvArgs> {
  Call() {
    operands = {
        TensorOf("q", ACL_BF16, {6, 64, 512}),
        TensorOf("ori_kv", ACL_BF16, {9, 128, 1, 512}),
        TensorOf("cmp_kv", ACL_BF16, {5, 32, 1, 512}),
        Absent("ori_sparse_indices"),
        TensorOf("cmp_sparse_indices", ACL_INT32, {6, 1, 512}),
        TensorOf("ori_block_table", ACL_INT32, {2, 4}),
        TensorOf("cmp_block_table", ACL_INT32, {2, 3}),
        TensorOf("cu_seqlens_q", ACL_INT32, {3}),
        Absent("cu_seqlens_ori_kv"),
        Absent("cu_seqlens_cmp_kv"),
        Absent("seqused_q"),
        TensorOf("seqused_kv", ACL_INT32, {2}),
        TensorOf("sinks", ACL_FLOAT, {64}),
        TensorOf("metadata", ACL_INT32, {1024}),
        TensorOf("attn_out", ACL_BF16, {6, 64, 512}),
        TensorOf("softmax_lse", ACL_FLOAT, {0}),
    };
    attributes = {4, 4, 3, 127, 0, "TND", "PA_ND"};
  }
  void MakeWindowOnly() {
    for (const Slot slot : {kCmpKv, kCmpSparseIndices, kCmpBlockTable}) Remove(slot);
  }
  // BSND queries and caches of 2 requests, 3 rows and 100 tokens, all groups; no used lengths.
  void MakeBatched() {
    for (const Slot slot :
         {kCmpSparseIndices, kOriBlockTable, kCmpBlockTable, kCuSeqlensQ, kSequsedKv}) {
      Remove(slot);
    }
    Replace(kQ, ACL_BF16, {2, 3, 64, 512});
    Replace(kAttnOut, ACL_BF16, {2, 3, 64, 512});
    Replace(kOriKv, ACL_BF16, {2, 100, 1, 512});
    Replace(kCmpKv, ACL_BF16, {2, 25, 1, 512});
    attributes.layout_q = "BSND";
    attributes.layout_kv = "BSND";
  }
};

const test::CheckJudge<Call, decltype(&CheckSparseAttnSharedkv)> judge(CheckSparseAttnSharedkv);

TEST_CASE("shared kv check: the unspoilt call") {
  const SparseAttnSharedkvProblem problem = judge.Accepted([](Call&) {});
  CHECK(problem.rules.heads == 64);
  CHECK(problem.rules.cmp_topk == 512);
  CHECK(problem.rules.window_left == 127);
  CHECK(problem.batch == 2);
  CHECK(problem.query_rows == 6);
  CHECK(problem.ori.outer_stride == 128 * 512);
  CHECK(problem.ori.tokens == 4 * 128);
  CHECK(problem.cmp.tokens == 3 * 32);
  CHECK_FALSE(problem.uses[kSoftmaxLse].used);
}

TEST_CASE("shared kv check: pointers that are never NULL") {
  for (const Slot slot : {kQ, kOriKv, kSinks, kMetadata, kAttnOut, kSoftmaxLse}) {
    const std::string name = Call()[slot].name;
    judge.Refused([&](Call& c) { c.Remove(slot); }, kNull, name + ": NULL, must be a tensor");
  }
  judge.Refused([](Call& c) { c[kCmpKv].live = false; }, kInvalid,
                "cmp_kv: the handle is no live aclTensor (destroyed, or not made by "
                "aclCreateTensor)");
}

TEST_CASE("shared kv check: what a layout requires, NULL and empty") {
  struct Row {
    Slot slot;
    const char* why;
  };
  const Row paged[] = {{kCuSeqlensQ, "with layout_q TND"},
                       {kOriBlockTable, "with layout_kv PA_ND"},
                       {kSequsedKv, "with layout_kv PA_ND"},
                       {kCmpBlockTable, "with cmp_kv and layout_kv PA_ND"}};
  for (const Row& row : paged) {
    const std::string text = std::string(Call()[row.slot].name) + ": absent, must be given ";
    judge.Refused([&](Call& c) { c.Remove(row.slot); }, kNull, text + row.why);
    judge.Refused([&](Call& c) { c.Replace(row.slot, ACL_INT32, {0}); }, kInvalid, text + row.why);
  }
  const auto packed = [](Call& c) {
    c.Replace(kOriKv, ACL_BF16, {900, 1, 512});
    c.Replace(kCmpKv, ACL_BF16, {225, 1, 512});
    c.Replace(kCuSeqlensOriKv, ACL_INT32, {3});
    c.Replace(kCuSeqlensCmpKv, ACL_INT32, {3});
    c.Remove(kSequsedKv);
    c.attributes.layout_kv = "TND";
  };
  CHECK(judge.Accepted(packed).cmp.tokens == 225);
  judge.Refused([&](Call& c) { packed(c), c.Remove(kCuSeqlensOriKv); }, kNull,
                "cu_seqlens_ori_kv: absent, must be given with layout_kv TND");
  judge.Refused([&](Call& c) { packed(c), c.Remove(kCuSeqlensCmpKv); }, kNull,
                "cu_seqlens_cmp_kv: absent, must be given with cmp_kv and layout_kv TND");
}

TEST_CASE("shared kv check: attributes") {
  judge.Refused([](Call& c) { c.softmax_scale = NAN; }, kInvalid,
                "softmax_scale: nan, must be finite as a float");
  judge.Refused([](Call& c) { c.attributes.layout_q = "PA_ND"; }, kInvalid,
                "layout_q: 'PA_ND', must be BSND or TND");
  judge.Refused([](Call& c) { c.attributes.layout_kv = "BNSD"; }, kInvalid,
                "layout_kv: 'BNSD', must be BSND, TND or PA_ND");
  for (const int64_t mask : {0, 3, 5}) {
    judge.Refused([&](Call& c) { c.attributes.ori_mask_mode = mask; }, kInvalid,
                  "ori_mask_mode: " + std::to_string(mask) + ", must be 4 (sliding window)");
  }
  judge.Refused([](Call& c) { c.attributes.cmp_mask_mode = 0; }, kInvalid,
                "cmp_mask_mode: 0, must be 3 (causal) with cmp_kv");
  for (const int64_t ratio : {-1, 0, 129}) {
    judge.Refused([&](Call& c) { c.attributes.cmp_ratio = ratio; }, kInvalid,
                  "cmp_ratio: " + std::to_string(ratio) + ", must be in [1, 128]");
  }
  judge.Refused([](Call& c) { c.attributes.ori_win_left = -1; }, kInvalid,
                "ori_win_left: -1, must be at least 0");
  judge.Refused([](Call& c) { c.attributes.ori_win_right = -1; }, kInvalid,
                "ori_win_right: -1, must be at least 0");
  CHECK(judge.Accepted([](Call& c) { c.attributes.ori_win_right = 3; }).rules.window_right == 3);
}

TEST_CASE("shared kv check: NULL layouts are BSND and PA_ND, other names of PA_ND are taken") {
  const SparseAttnSharedkvProblem problem = judge.Accepted([](Call& c) {
    c.MakeWindowOnly();
    c.Remove(kCuSeqlensQ);
    c.Replace(kQ, ACL_BF16, {2, 3, 64, 512});
    c.Replace(kAttnOut, ACL_BF16, {2, 3, 64, 512});
    c.attributes.layout_q = nullptr;
    c.attributes.layout_kv = nullptr;
  });
  CHECK(problem.rules.layout_q == Layout::kBsnd);
  CHECK(problem.rules.layout_kv == Layout::kPaged);
  for (const char* name : {"PA_BBND", "PA_BSND"}) {
    judge.Accepted([&](Call& c) { c.attributes.layout_kv = name; });
  }
}

TEST_CASE("shared kv check: any layout of the caches goes with any of the queries") {
  CHECK(judge.Accepted([](Call& c) { c.MakeBatched(); }).query_rows == 6);
  judge.Accepted([](Call& c) {
    c.MakeBatched();
    c.Replace(kOriKv, ACL_BF16, {200, 1, 512});
    c.Replace(kCmpKv, ACL_BF16, {50, 1, 512});
    c.Replace(kCuSeqlensOriKv, ACL_INT32, {3});
    c.Replace(kCuSeqlensCmpKv, ACL_INT32, {3});
    c.attributes.layout_kv = "TND";
  });
  const auto packed_queries = [](Call& c) {
    c.MakeBatched();
    c.Replace(kQ, ACL_BF16, {6, 64, 512});
    c.Replace(kAttnOut, ACL_BF16, {6, 64, 512});
    c.Replace(kCuSeqlensQ, ACL_INT32, {3});
    c.attributes.layout_q = "TND";
  };
  CHECK(judge.Accepted(packed_queries).batch == 2);
  judge.Refused([&](Call& c) { packed_queries(c), c.Replace(kCuSeqlensQ, ACL_INT32, {4}); },
                kInvalid, "ori_kv: axis 0 (B) is 2, must be 3 (from cu_seqlens_q)");
}

TEST_CASE("shared kv check: tensors that must not be there") {
  judge.Refused([](Call& c) { c.Replace(kOriSparseIndices, ACL_INT32, {6, 1, 128}); }, kInvalid,
                "ori_sparse_indices: given, must be absent");
  judge.Accepted([](Call& c) { c.Replace(kOriSparseIndices, ACL_INT32, {0}); });
  judge.Refused([](Call& c) { c.MakeBatched(), c.Replace(kCuSeqlensQ, ACL_INT32, {3}); }, kInvalid,
                "cu_seqlens_q: given with layout_q BSND, must be absent");
  judge.Refused([](Call& c) { c.Remove(kCmpKv); }, kInvalid,
                "cmp_sparse_indices: given without cmp_kv, must come with it");
}

TEST_CASE("shared kv check: dtypes, ranks, extents") {
  judge.Refused([](Call& c) { c[kQ].desc.dtype = ACL_FLOAT; }, kInvalid,
                "q: dtype FLOAT, must be FLOAT16 or BFLOAT16");
  judge.Refused([](Call& c) { c[kOriKv].desc.dtype = ACL_FLOAT16; }, kInvalid,
                "ori_kv: dtype FLOAT16, must be BFLOAT16 as q");
  judge.Refused([](Call& c) { c[kSequsedKv].desc.dtype = ACL_INT64; }, kInvalid,
                "seqused_kv: dtype INT64, must be INT32");
  judge.Refused([](Call& c) { c.Replace(kSequsedKv, ACL_INT32, {3}); }, kInvalid,
                "seqused_kv: axis 0 (B) is 3, must be 2 (from cu_seqlens_q)");
  judge.Refused([](Call& c) { c.Replace(kOriBlockTable, ACL_INT32, {3, 4}); }, kInvalid,
                "ori_block_table: axis 0 (B) is 3, must be 2 (from cu_seqlens_q)");
  judge.Refused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {9, 1040, 1, 512}); }, kInvalid,
                "ori_kv: axis 1 (block size) is 1040, must be in [1, 1024]");
  judge.Refused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {0, 128, 1, 512}); }, kInvalid,
                "ori_kv: zero elements, must hold at least one token");
  judge.Refused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {6, 1, 0}); }, kInvalid,
                "cmp_sparse_indices: last axis is 0, must be at least 1");
  judge.Refused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {5, 1, 512}); }, kInvalid,
                "cmp_sparse_indices: axis 0 (T1) is 5, must be 6 as in q");
  judge.Refused([](Call& c) { c.Replace(kSinks, ACL_FLOAT, {32}); }, kInvalid,
                "sinks: axis 0 (N1) is 32, must be 64 as in q");
  judge.Refused([](Call& c) { c.Replace(kMetadata, ACL_INT32, {1000}); }, kInvalid,
                "metadata: axis 0 (words) is 1000, must be 1024 (the words "
                "aclnnSparseAttnSharedkvMetadata writes)");
  judge.Refused([](Call& c) { c.Replace(kAttnOut, ACL_BF16, {6, 32, 512}); }, kInvalid,
                "attn_out: axis 1 (N1) is 32, must be 64 as in q");
}

TEST_CASE("shared kv check: softmax_lse has the axes of q, and any without the flag") {
  const auto with_lse = [](std::initializer_list<int64_t> dims) {
    return [dims](Call& c) {
      c.return_softmax_lse = true;
      c.Replace(kSoftmaxLse, ACL_FLOAT, dims);
    };
  };
  CHECK(judge.Accepted(with_lse({6, 64, 1})).uses[kSoftmaxLse].used);
  judge.Refused(with_lse({1, 6, 64}), kInvalid, "softmax_lse: axis 0 (T1) is 1, must be 6 as in q");
  judge.Refused(with_lse({0}), kInvalid, "softmax_lse: rank 1, must be 3 (T1, N1, N2)");
  judge.Accepted([](Call& c) { c.Replace(kSoftmaxLse, ACL_FLOAT, {3, 3}); });
}

TEST_CASE("shared kv check: without a compressed cache its attributes do not matter") {
  const SparseAttnSharedkvProblem problem = judge.Accepted([](Call& c) {
    c.MakeWindowOnly();
    c.attributes.cmp_ratio = 0;
    c.attributes.cmp_mask_mode = 77;
    c.cmp_kv_stride = -5;
  });
  CHECK(problem.rules.cmp_ratio == 1);
  CHECK(problem.rules.cmp_mask == MaskMode::kNone);
}

TEST_CASE("shared kv check: a compressed cache without rows is there when its company is") {
  CHECK(
      judge.Accepted([](Call& c) { c.Replace(kCmpKv, ACL_BF16, {0, 32, 1, 512}); }).rules.has_cmp ==
      1);
  judge.Refused([](Call& c) { c.Replace(kCmpKv, ACL_FLOAT16, {0, 32, 1, 512}); }, kInvalid,
                "cmp_kv: dtype FLOAT16, must be BFLOAT16 as q");
  const auto alone = [](std::initializer_list<int64_t> dims) {
    return [dims](Call& c) {
      c.MakeWindowOnly();
      c.Replace(kCmpKv, ACL_BF16, dims);
    };
  };
  CHECK(judge.Accepted(alone({0, 32, 1, 512})).rules.has_cmp == 0);
  CHECK(judge.Accepted(alone({0})).rules.has_cmp == 0);
}

TEST_CASE("shared kv check: a batched compressed cache has a row for each group") {
  judge.Refused([](Call& c) { c.MakeBatched(), c.Replace(kCmpKv, ACL_BF16, {2, 24, 1, 512}); },
                kInvalid,
                "cmp_kv: axis 1 (tokens) is 24, must be at least 25, one for each 4 of 100 "
                "original tokens");
  judge.Accepted([](Call& c) { c.MakeBatched(), c.Replace(kCmpKv, ACL_BF16, {2, 40, 1, 512}); });
  // Then the lengths are known on the device only.
  judge.Accepted([](Call& c) {
    c.MakeBatched();
    c.Replace(kCmpKv, ACL_BF16, {2, 24, 1, 512});
    c.Replace(kSequsedKv, ACL_INT32, {2});
  });
}

TEST_CASE("shared kv check: strides from the view, and from the attributes") {
  const auto view = judge.Accepted([](Call& c) { c[kOriKv].desc.strides[0] = 130 * 512; });
  CHECK(view.ori.outer_stride == 130 * 512);
  const auto given = judge.Accepted([](Call& c) {
    c[kOriKv].desc.strides[0] = 130 * 512;
    c.ori_kv_stride = 140 * 512;
    c.cmp_kv_stride = 32 * 512;
  });
  CHECK(given.ori.outer_stride == 140 * 512);
  CHECK(given.cmp.outer_stride == 32 * 512);
  // What phase two checks against the allocation.
  CHECK(PlanSparseAttnSharedkv(given, AttentionTarget()).operands[kOriKv].desc.strides[0] ==
        140 * 512);
  for (const int64_t stride : {-1, 1, 128 * 512 - 1}) {
    judge.Refused([&](Call& c) { c.ori_kv_stride = stride; }, kInvalid,
                  "ori_kv_stride: " + std::to_string(stride) +
                      ", must be 0 (the stride of ori_kv) or at least 65536, the elements of a "
                      "block");
  }
  judge.Refused([](Call& c) { c.cmp_kv_stride = 32 * 512 - 1; }, kInvalid,
                "cmp_kv_stride: 16383, must be 0 (the stride of cmp_kv) or at least 16384, the "
                "elements of a block");
  // Only pages have such a stride.
  const auto batched = judge.Accepted([](Call& c) { c.MakeBatched(), c.ori_kv_stride = 512; });
  CHECK(batched.ori.outer_stride == 100 * 512);
}

TEST_CASE("shared kv check: no query rows, nothing to do") {
  const auto problem = judge.Accepted([](Call& c) {
    c.Replace(kQ, ACL_BF16, {0, 64, 512});
    c.Replace(kAttnOut, ACL_BF16, {0, 64, 512});
    c.MakeWindowOnly();
  });
  CHECK(PlanSparseAttnSharedkv(problem, AttentionTarget()).nothing_to_do);
}

TEST_CASE("shared kv check: rules of the products") {
  judge.Accepted([](Call&) {}, "ascend910b");
  judge.Accepted([](Call& c) { c.MakeWindowOnly(); }, "ascend910b");
  judge.Accepted([](Call& c) { c[kOriKv].desc.strides[0] = 130 * 512; }, "ascend910b");
  judge.Refused([](Call&) {}, kInvalid,
                "SparseAttnSharedkv: the product does not have this operator (rules of ascend950)",
                "ascend950");
  struct Row {
    void (*spoil)(Call&);
    const char* text;
  };
  const Row rows[] = {
      {[](Call& c) {
         c.Replace(kQ, ACL_BF16, {0, 64, 512});
         c.Replace(kAttnOut, ACL_BF16, {0, 64, 512});
         c.Replace(kCmpSparseIndices, ACL_INT32, {0, 1, 512});
       },
       "q: no requests or no rows, must have at least one of each"},
      {[](Call& c) {
         c.Replace(kQ, ACL_BF16, {6, 6, 512});
         c.Replace(kAttnOut, ACL_BF16, {6, 6, 512});
         c.Replace(kSinks, ACL_FLOAT, {6});
       },
       "query heads N1: 6, must be a multiple of 4"},
      {[](Call& c) { c.attributes.ori_win_left = 134; },
       "ori_win_left, ori_win_right: 134, 0, must be 127, 0"},
      {[](Call& c) { c.attributes.ori_win_right = 1; },
       "ori_win_left, ori_win_right: 127, 1, must be 127, 0"},
      {[](Call& c) { c.MakeWindowOnly(), c.attributes.cmp_mask_mode = 0; },
       "cmp_mask_mode: 0, must be 3"},
      {[](Call& c) { c.attributes.cmp_ratio = 8; }, "cmp_ratio: 8, must be 4 or 128"},
      {[](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {6, 1, 256}); },
       "cmp_topk (last axis of cmp_sparse_indices): 256, must be 512 or 1024"},
      {[](Call& c) { c.Replace(kSequsedQ, ACL_INT32, {2}); },
       "seqused_q: given with layout_q TND, must be absent"},
      {[](Call& c) { c.Replace(kOriKv, ACL_BF16, {9, 24, 1, 512}); },
       "ori_kv: block size 24, must be a multiple of 16"},
      {[](Call& c) { c[kCmpKv].desc.strides[1] = 600; },
       "cmp_kv: row stride 600, only the page stride may differ from a contiguous tensor"},
  };
  for (const Row& row : rows) {
    judge.Accepted(row.spoil);
    judge.Refused(row.spoil, kInvalid, std::string(row.text) + " (rules of ascend910b)",
                  "ascend910b");
  }
}

}  // namespace
}  // namespace sfmla
