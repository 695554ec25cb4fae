// SPDX-License-Identifier: Apache-2.0
// Each refusal of the planner once, with its sentence; all are 161002.
#include "op_host/sparse_attn_sharedkv_metadata/check.h"

#include <doctest/doctest.h>

#include "op_kernel/common/length_tensors.h"
#include "unit/op_host/editable_call.h"

namespace sfmla {
namespace {

using namespace sharedkv_metadata_operand;
using test::Absent;
using test::TensorOf;

// TND queries, paged caches, SCFA; two requests.
struct Call : test::EditableCall<SparseAttnSharedkvMetadataArgs> {
  Call() {
    operands = {
        TensorOf("cu_seqlens_q", ACL_INT32, {3}),
        Absent("cu_seqlens_ori_kv"),
        Absent("cu_seqlens_cmp_kv"),
        Absent("seqused_q"),
        TensorOf("seqused_kv", ACL_INT32, {2}),
        TensorOf("metadata", ACL_INT32, {1024}),
    };
    num_heads_q = 64;
    num_heads_kv = 1;
    head_dim = 512;
    cmp_topk = 512;
    attributes = {4, 4, 3, 127, 0, "TND", "PA_ND"};
    has_cmp_kv = true;
  }
  // Lengths from the maxima.
  void MakeBatched() {
    Remove(kCuSeqlensQ);
    Remove(kSequsedKv);
    attributes.layout_q = "BSND";
    attributes.layout_kv = "BSND";
    batch_size = 2;
    max_seqlen_q = 3;
    max_seqlen_kv = 100;
  }
  void MakePacked() {
    Remove(kSequsedKv);
    attributes.layout_kv = "TND";
    Replace(kCuSeqlensOriKv, ACL_INT32, {3});
    Replace(kCuSeqlensCmpKv, ACL_INT32, {3});
  }
};

constexpr int32_t kInvalid = code::kAclnnParamInvalid;
const test::CheckJudge<Call, decltype(&CheckSparseAttnSharedkvMetadata)> judge(
    CheckSparseAttnSharedkvMetadata);

TEST_CASE("shared kv planner check: the unspoilt calls") {
  const auto paged = judge.Accepted([](Call&) {});
  CHECK(paged.batch == 2);
  CHECK(paged.rules.heads == 64);
  CHECK(paged.query_extent == kUnknownExtent);
  CHECK(paged.ori_extent == kUnknownExtent);
  const auto batched = judge.Accepted([](Call& c) { c.MakeBatched(); });
  CHECK(batched.batch == 2);
  CHECK(batched.query_extent == 3);
  CHECK(batched.ori_extent == 100);
  CHECK(judge.Accepted([](Call& c) { c.MakePacked(); }).batch == 2);
}

TEST_CASE("shared kv planner check: scalars") {
  judge.Refused([](Call& c) { c.num_heads_q = 129; }, kInvalid,
                "num_heads_q: 129, must be in [1, 128]");
  judge.Refused([](Call& c) { c.num_heads_kv = 2; }, kInvalid, "num_heads_kv: 2, must be 1");
  judge.Refused([](Call& c) { c.head_dim = 576; }, kInvalid, "head_dim: 576, must be 512");
  judge.Refused([](Call& c) { c.batch_size = -1; }, kInvalid,
                "batch_size: -1, must be in [0, 67108864]");
  judge.Refused([](Call& c) { c.max_seqlen_q = -1; }, kInvalid,
                "max_seqlen_q: -1, must be at least 0");
  judge.Refused([](Call& c) { c.MakeBatched(), c.max_seqlen_kv = -1; }, kInvalid,
                "max_seqlen_kv: -1, must be at least 0");
  judge.Accepted([](Call& c) { c.max_seqlen_kv = -1; });
  // 2^26 rows in all, where no tensor tells how many there are.
  judge.Accepted([](Call& c) { c.MakeBatched(), c.max_seqlen_q = 33554432; });
  judge.Refused([](Call& c) { c.MakeBatched(), c.max_seqlen_q = 33554433; }, kInvalid,
                "max_seqlen_q: 33554433, must be at most 33554432 for 2 requests");
  judge.Accepted([](Call& c) { c.max_seqlen_q = INT64_MAX; });
  judge.Refused([](Call& c) { c.cmp_topk = -5; }, kInvalid,
                "cmp_topk: -5, must be in [0, 2147483647]");
}

TEST_CASE("shared kv planner check: attributes") {
  for (const int64_t mask : {0, 3, 4}) {
    judge.Accepted([&](Call& c) { c.attributes.ori_mask_mode = mask; });
  }
  judge.Refused([](Call& c) { c.attributes.ori_mask_mode = 1; }, kInvalid,
                "ori_mask_mode: 1, must be 0 (no mask), 3 (causal) or 4 (sliding window)");
  judge.Refused([](Call& c) { c.attributes.ori_win_left = -1; }, kInvalid,
                "ori_win_left: -1, must be at least 0");
  judge.Refused([](Call& c) { c.attributes.cmp_ratio = -1; }, kInvalid,
                "cmp_ratio: -1, must be in [1, 128]");
  judge.Refused([](Call& c) { c.attributes.layout_kv = "PA"; }, kInvalid,
                "layout_kv: 'PA', must be BSND, TND or PA_ND");
  CHECK(judge.Accepted([](Call& c) { c.attributes.layout_kv = nullptr; }).rules.layout_kv ==
        Layout::kPaged);
  CHECK(judge.Accepted([](Call& c) { c.attributes.cmp_mask_mode = 0; }).rules.cmp_mask ==
        MaskMode::kCausal);
}

TEST_CASE("shared kv planner check: presence, NULL and empty") {
  struct Row {
    Slot slot;
    const char* text;
  };
  const Row rows[] = {
      {kCuSeqlensQ, "cu_seqlens_q: absent, must be given with layout_q TND"},
      {kSequsedKv, "seqused_kv: absent, must be given with layout_kv PA_ND"},
  };
  for (const Row& row : rows) {
    judge.Refused([&](Call& c) { c.Remove(row.slot); }, kInvalid, row.text);
    judge.Refused([&](Call& c) { c.Replace(row.slot, ACL_INT32, {0}); }, kInvalid, row.text);
  }
  judge.Refused([](Call& c) { c.MakePacked(), c.Remove(kCuSeqlensOriKv); }, kInvalid,
                "cu_seqlens_ori_kv: absent, must be given with layout_kv TND");
  judge.Refused([](Call& c) { c.MakePacked(), c.Remove(kCuSeqlensCmpKv); }, kInvalid,
                "cu_seqlens_cmp_kv: absent, must be given with has_cmp_kv and layout_kv TND");
  judge.Accepted([](Call& c) {
    c.MakePacked();
    c.Remove(kCuSeqlensCmpKv);
    c.has_cmp_kv = false;
  });
  judge.Refused([](Call& c) { c.Remove(kMetadata); }, kInvalid,
                "metadata: NULL, must be an INT32 tensor of 1024 elements");
}

TEST_CASE("shared kv planner check: tensors") {
  judge.Refused([](Call& c) { c.Replace(kMetadata, ACL_INT32, {2, 512}); }, kInvalid,
                "metadata: rank 2, must be 1 (words)");
  judge.Refused([](Call& c) { c.Replace(kMetadata, ACL_INT32, {1023}); }, kInvalid,
                "metadata: axis 0 (words) is 1023, must be 1024 (words of a plan)");
  judge.Refused([](Call& c) { c.Replace(kMetadata, ACL_INT64, {1024}); }, kInvalid,
                "metadata: dtype INT64, must be INT32");
  judge.Refused([](Call& c) { c.Replace(kSequsedKv, ACL_INT32, {2, 1}); }, kInvalid,
                "seqused_kv: rank 2, must be 1 (B)");
  judge.Refused([](Call& c) { c.Replace(kCuSeqlensQ, ACL_INT64, {3}); }, kInvalid,
                "cu_seqlens_q: dtype INT64, must be INT32");
}

TEST_CASE("shared kv planner check: both sides have as many requests") {
  judge.Refused([](Call& c) { c.Replace(kSequsedKv, ACL_INT32, {3}); }, kInvalid,
                "seqused_kv: axis 0 (B) is 3, must be 2 (B from cu_seqlens_q)");
  judge.Refused([](Call& c) { c.Replace(kSequsedQ, ACL_INT32, {4}); }, kInvalid,
                "cu_seqlens_q: axis 0 (B+1) is 3, must be 5 (B from seqused_q)");
  judge.Refused([](Call& c) { c.MakePacked(), c.Replace(kCuSeqlensOriKv, ACL_INT32, {4}); },
                kInvalid, "cu_seqlens_ori_kv: axis 0 (B+1) is 4, must be 3 (B from cu_seqlens_q)");
  judge.Refused([](Call& c) { c.MakeBatched(), c.Replace(kSequsedQ, ACL_INT32, {5}); }, kInvalid,
                "batch_size: 2, must be 5 as in seqused_q");
  judge.Refused([](Call& c) { c.MakeBatched(), c.Replace(kSequsedKv, ACL_INT32, {5}); }, kInvalid,
                "seqused_kv: axis 0 (B) is 5, must be 2 (B from batch_size)");
  // Where tensors tell both, batch_size is not looked at.
  judge.Accepted([](Call& c) { c.batch_size = 7; });
}

TEST_CASE("shared kv planner check: no requests at all is legal") {
  CHECK(judge
            .Accepted([](Call& c) {
              c.Replace(kCuSeqlensQ, ACL_INT32, {1});
              c.Replace(kSequsedKv, ACL_INT32, {0});
            })
            .batch == 0);
  CHECK(judge.Accepted([](Call& c) { c.MakeBatched(), c.batch_size = 0; }).batch == 0);
}

TEST_CASE("shared kv planner check: zero-element tensors are absent") {
  judge.Accepted([](Call& c) { c.Replace(kSequsedQ, ACL_INT32, {0}); });
  judge.Accepted([](Call& c) { c.Replace(kCuSeqlensOriKv, ACL_INT64, {0}); });
}

TEST_CASE("shared kv planner check: rules of the products") {
  judge.Accepted([](Call&) {}, "ascend910b");
  judge.Accepted([](Call& c) { c.attributes.ori_win_right = 5; }, "ascend910b");
  judge.Refused([](Call& c) { c.attributes.ori_win_left = 134; }, kInvalid,
                "ori_win_left: 134, must be 127 (rules of ascend910b)", "ascend910b");
  judge.Refused([](Call& c) { c.attributes.cmp_ratio = 2; }, kInvalid,
                "cmp_ratio: 2, must be 4 or 128 (rules of ascend910b)", "ascend910b");
  judge.Refused([](Call& c) { c.cmp_topk = 100; }, kInvalid,
                "cmp_topk (last axis of cmp_sparse_indices): 100, must be 512 or 1024 (rules of "
                "ascend910b)",
                "ascend910b");
  judge.Refused([](Call&) {}, kInvalid,
                "SparseAttnSharedkv: the product does not have this operator (rules of ascend950)",
                "ascend950");
}

}  // namespace
}  // namespace sfmla
