// SPDX-License-Identifier: Apache-2.0
// Each refusal of the planner once, with its sentence; all are 161002.
#include "op_host/sparse_flash_mla_metadata/check.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "op_kernel/common/length_tensors.h"
#include "unit/op_host/editable_call.h"

namespace sfmla {
namespace {

using namespace metadata_operand;
using test::Absent;
using test::Product;
using test::TensorOf;

// TND queries, paged caches, CSA; two requests.
struct PlannerCall : test::EditableCall<SparseFlashMlaMetadataArgs> {
  PlannerCall() {
    operands = {
        TensorOf("cu_seqlens_q", ACL_INT32, {3}),
        Absent("cu_seqlens_ori_kv"),
        Absent("cu_seqlens_cmp_kv"),
        Absent("seqused_q"),
        TensorOf("seqused_ori_kv", ACL_INT32, {2}),
        TensorOf("seqused_cmp_kv", ACL_INT32, {2}),
        TensorOf("cmp_residual_kv", ACL_INT32, {2}),
        Absent("ori_topk_length"),
        Absent("cmp_topk_length"),
        TensorOf("metadata", ACL_INT32, {1024}),
    };
    num_heads_q = 64;
    num_heads_kv = 1;
    head_dim = 512;
    cmp_topk = 512;
    attributes = {4, 4, 3, 127, 0, "TND", "PA_BBND"};
    has_cmp_kv = true;
  }
  // BSND queries and caches, window only, lengths from the maxima.
  void MakeBatched() {
    for (const Slot slot : {kCuSeqlensQ, kSequsedOriKv, kSequsedCmpKv, kCmpResidualKv})
      Remove(slot);
    attributes.layout_q = "BSND";
    attributes.layout_kv = "BSND";
    has_cmp_kv = false;
    batch_size = 2;
    max_seqlen_q = 3;
    max_seqlen_ori_kv = 100;
  }
};

using Spoil = std::function<void(PlannerCall&)>;

Result<SparseFlashMlaMetadataProblem> Check(const Spoil& spoil, const char* product = "cpu") {
  PlannerCall call;
  spoil(call);
  return CheckSparseFlashMlaMetadata(call, Product(product));
}

void CheckRefused(const Spoil& spoil, const std::string& text, const char* product = "cpu") {
  const auto problem = Check(spoil, product);
  CAPTURE(text);
  REQUIRE_FALSE(problem.ok());
  CHECK(problem.status().code() == code::kAclnnParamInvalid);
  CHECK(problem.status().text() == text);
}

TEST_CASE("planner check: the unspoilt calls") {
  const auto paged = Check([](PlannerCall&) {});
  REQUIRE(paged.ok());
  CHECK(paged->batch == 2);
  CHECK(paged->ori_extent == kUnknownExtent);
  const auto batched = Check([](PlannerCall& c) { c.MakeBatched(); });
  REQUIRE(batched.ok());
  CHECK(batched->batch == 2);
  CHECK(batched->query_extent == 3);
  CHECK(batched->ori_extent == 100);
}

TEST_CASE("planner check: no requests at all is legal") {
  const auto problem = Check([](PlannerCall& c) {
    c.Replace(kCuSeqlensQ, ACL_INT32, {1});
    for (const Slot slot : {kSequsedOriKv, kSequsedCmpKv, kCmpResidualKv}) c.Remove(slot);
    c.attributes.layout_kv = "TND";
    c.Replace(kCuSeqlensOriKv, ACL_INT32, {1});
    c.has_cmp_kv = false;
  });
  REQUIRE(problem.ok());
  CHECK(problem->batch == 0);
}

TEST_CASE("planner check: scalars") {
  CheckRefused([](PlannerCall& c) { c.num_heads_q = 129; },
               "num_heads_q: 129, must be in [1, 128]");
  CheckRefused([](PlannerCall& c) { c.num_heads_kv = 2; }, "num_heads_kv: 2, must be 1");
  CheckRefused([](PlannerCall& c) { c.head_dim = 576; }, "head_dim: 576, must be 512");
  CheckRefused([](PlannerCall& c) { c.batch_size = -1; },
               "batch_size: -1, must be in [0, 2147483647]");
  CheckRefused([](PlannerCall& c) { c.cmp_topk = -5; }, "cmp_topk: -5, must be in [0, 2147483647]");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.max_seqlen_q = INT64_MAX;
      },
      "max_seqlen_q: 9223372036854775807, must be at most 33554432 for 2 requests");
  CheckRefused([](PlannerCall& c) { c.batch_size = 3; },
               "batch_size: 3, must be 0 or 2 as cu_seqlens_q says");
  CheckRefused([](PlannerCall& c) { c.attributes.layout_q = nullptr; },
               "layout_q: NULL, must be BSND or TND");
  CheckRefused([](PlannerCall& c) { c.attributes.layout_kv = nullptr; },
               "layout_kv: NULL, must be BSND, TND or PA_BBND");
}

TEST_CASE("planner check: presence") {
  CheckRefused([](PlannerCall& c) { c.Remove(kMetadata); },
               "metadata: NULL, must be an INT32 tensor of 1024 elements");
  CheckRefused([](PlannerCall& c) { c.Remove(kCuSeqlensQ); },
               "cu_seqlens_q: absent, must be given with layout_q TND");
  CheckRefused([](PlannerCall& c) { c.Remove(kSequsedOriKv); },
               "seqused_ori_kv: absent, must be given with layout_kv PA_BBND unless ori_topk is "
               "positive");
  CheckRefused([](PlannerCall& c) { c.Remove(kCmpResidualKv); },
               "cmp_residual_kv: absent, must be given with has_cmp_kv when cmp_mask_mode is 3 and "
               "cmp_ratio is not 1");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.max_seqlen_q = 0;
      },
      "max_seqlen_q: 0, must be at least 1 with layout_q BSND when seqused_q is absent");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.max_seqlen_ori_kv = 0;
      },
      "max_seqlen_ori_kv: 0, must be at least 1 with layout_kv BSND when seqused_ori_kv is absent "
      "and has_ori_kv true");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.has_cmp_kv = true;
        c.Replace(kCmpResidualKv, ACL_INT32, {2});
      },
      "max_seqlen_cmp_kv: 0, must be at least 1 with layout_kv BSND when seqused_cmp_kv is absent "
      "and has_cmp_kv true");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.batch_size = 0;
      },
      "batch_size: 0, must be at least 1 with layout_q BSND when no seqused tensor tells the "
      "number of requests");
}

TEST_CASE("planner check: tensors") {
  CheckRefused([](PlannerCall& c) { c.Replace(kMetadata, ACL_INT32, {1025}); },
               "metadata: axis 0 (words) is 1025, must be 1024 (words of a plan)");
  CheckRefused([](PlannerCall& c) { c.Replace(kSequsedOriKv, ACL_INT64, {2}); },
               "seqused_ori_kv: dtype INT64, must be INT32");
  CheckRefused([](PlannerCall& c) { c.Replace(kSequsedCmpKv, ACL_INT32, {5}); },
               "seqused_cmp_kv: axis 0 (B) is 5, must be 2 (B from cu_seqlens_q)");
  CheckRefused(
      [](PlannerCall& c) {
        c.MakeBatched();
        c.ori_topk = 4;
        c.Replace(kOriTopkLength, ACL_INT32, {2, 7, 1});
      },
      "ori_topk_length: axis 1 (S1) is 7, must be 3 as max_seqlen_q");
  CheckRefused(
      [](PlannerCall& c) {
        c.ori_topk = 4;
        c.Replace(kOriTopkLength, ACL_INT32, {int64_t{1} << 62, 1});
      },
      "ori_topk_length: axis 0 (T1) is 4611686018427387904, must be in [0, 2147483647]");
  CheckRefused([](PlannerCall& c) { c.Replace(kCuSeqlensQ, ACL_INT32, {int64_t{1} << 32}); },
               "cu_seqlens_q: axis 0 (B+1) is 4294967296, must be in [0, 2147483647]");
}

TEST_CASE("planner check: zero-element tensors are absent, unused ones are ignored") {
  CHECK(Check([](PlannerCall& c) { c.Replace(kSequsedQ, ACL_INT32, {0}); }).ok());
  CHECK(Check([](PlannerCall& c) { c.Replace(kCuSeqlensOriKv, ACL_INT64, {9}); }).ok());
  CHECK(Check([](PlannerCall& c) {
          c.has_cmp_kv = false;
          c.attributes.cmp_ratio = 0;
          c.attributes.cmp_mask_mode = 1;
        }).ok());
}

TEST_CASE("planner check: rules of the products") {
  CheckRefused([](PlannerCall& c) { c.attributes.cmp_ratio = 8; },
               "cmp_ratio: 8, must be 4 in mode CSA (rules of ascend910b)", "ascend910b");
  CHECK(Check([](PlannerCall& c) { c.attributes.cmp_ratio = 2; }, "ascend910b").ok());
  CHECK(Check([](PlannerCall& c) { c.has_cmp_kv = false; }, "ascend910b").ok());
  CheckRefused([](PlannerCall& c) { c.Remove(kSequsedCmpKv); },
               "seqused_cmp_kv: absent, must be given with has_cmp_kv and layout_kv PA_BBND",
               "ascend910b");
}

}  // namespace
}  // namespace sfmla
