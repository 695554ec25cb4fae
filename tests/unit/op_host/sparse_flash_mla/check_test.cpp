// SPDX-License-Identifier: Apache-2.0
// Each refusal once, with its code and its sentence.
#include "op_host/sparse_flash_mla/check.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include "unit/op_host/call_builder.h"

namespace sfmla {
namespace {

using namespace smla_operand;
using test::Call;
using test::Product;
using Spoil = std::function<void(Call&)>;

void CheckRefused(const Spoil& spoil, int32_t code, const std::string& text,
                  const char* product = "cpu") {
  Call call;
  spoil(call);
  const auto problem = CheckSparseFlashMla(call, Product(product));
  CAPTURE(text);
  REQUIRE_FALSE(problem.ok());
  CHECK(problem.status().code() == code);
  CHECK(problem.status().text() == text);
}

void CheckAccepted(const Spoil& spoil, const char* product = "cpu") {
  Call call;
  spoil(call);
  const auto problem = CheckSparseFlashMla(call, Product(product));
  INFO(problem.status().text());
  CHECK(problem.ok());
}

constexpr int32_t kNull = code::kAclnnParamNullptr;
constexpr int32_t kInvalid = code::kAclnnParamInvalid;

TEST_CASE("check: the unspoilt call") {
  const auto problem = CheckSparseFlashMla(Call(), Product("cpu"));
  REQUIRE(problem.ok());
  CHECK(problem->rules.heads == 64);
  CHECK(problem->rules.cmp_topk == 16);
  CHECK(problem->rules.uses_residual());
  CHECK(problem->batch == 2);
  CHECK(problem->query_rows == 6);
  CHECK(problem->ori.outer_extent == 9);
  CHECK(problem->ori.outer_stride == 128 * 512);
  CHECK(problem->ori.page_tokens == 128);
  CHECK(problem->ori.tokens == 4 * 128);
  CHECK(problem->cmp.tokens == 3 * 32);
  CHECK_FALSE(problem->uses[kSoftmaxLse].used);
}

TEST_CASE("check: required pointers") {
  CheckRefused([](Call& c) { c.Remove(kQ); }, kNull, "q: NULL, must be a tensor");
  CheckRefused([](Call& c) { c.Remove(kOriKv); }, kNull, "ori_kv: NULL, must be a tensor");
  CheckRefused([](Call& c) { c.Remove(kMetadata); }, kNull, "metadata: NULL, must be a tensor");
  CheckRefused([](Call& c) { c.Remove(kAttnOut); }, kNull, "attn_out: NULL, must be a tensor");
  CheckRefused([](Call& c) { c.return_softmax_lse = true; }, kNull,
               "softmax_lse: NULL, must be a tensor when return_softmax_lse is true");
  CheckRefused([](Call& c) { c.Remove(kSinks); }, kInvalid,
               "sinks: absent, must be given (one FLOAT per query head)");
  CheckRefused([](Call& c) { c[kCmpKv].live = false; }, kInvalid,
               "cmp_kv: the handle is no live aclTensor (destroyed, or not made by "
               "aclCreateTensor)");
}

TEST_CASE("check: attributes") {
  CheckRefused([](Call& c) { c.softmax_scale = NAN; }, kInvalid,
               "softmax_scale: nan, must be finite as a float");
  CheckRefused([](Call& c) { c.softmax_scale = -1e300; }, kInvalid,
               "softmax_scale: -1e+300, must be finite as a float");
  CheckRefused([](Call& c) { c.topk_value_mode = 2; }, kInvalid, "topk_value_mode: 2, must be 1");
  CheckRefused([](Call& c) { c.attributes.layout_q = "tnd"; }, kInvalid,
               "layout_q: 'tnd', must be BSND or TND");
  CheckRefused([](Call& c) { c.attributes.layout_kv = "BNSD"; }, kInvalid,
               "layout_kv: 'BNSD', must be BSND, TND or PA_BBND");
  CheckRefused([](Call& c) { c.attributes.layout_kv = "BSND"; }, kInvalid,
               "layout_kv: BSND with layout_q TND, must be TND or PA_BBND");
  CheckRefused([](Call& c) { c.attributes.ori_mask_mode = 1; }, kInvalid,
               "ori_mask_mode: 1, must be 0 (no mask), 3 (causal) or 4 (sliding window)");
  CheckRefused([](Call& c) { c.attributes.cmp_mask_mode = 4; }, kInvalid,
               "cmp_mask_mode: 4, must be 0 (no mask) or 3 (causal)");
  for (const int64_t ratio : {-1, 0, 129}) {
    CheckRefused([&](Call& c) { c.attributes.cmp_ratio = ratio; }, kInvalid,
                 "cmp_ratio: " + std::to_string(ratio) + ", must be in [1, 128]");
  }
  CheckRefused([](Call& c) { c.attributes.ori_win_left = -2; }, kInvalid,
               "ori_win_left: -2, must be -1 (unlimited) or a number of tokens");
}

TEST_CASE("check: dtypes, ranks, extents") {
  CheckRefused([](Call& c) { c[kQ].desc.dtype = ACL_FLOAT; }, kInvalid,
               "q: dtype FLOAT, must be FLOAT16 or BFLOAT16");
  CheckRefused([](Call& c) { c[kCmpKv].desc.dtype = ACL_FLOAT16; }, kInvalid,
               "cmp_kv: dtype FLOAT16, must be BFLOAT16 as q");
  CheckRefused([](Call& c) { c[kAttnOut].desc.dtype = ACL_FLOAT16; }, kInvalid,
               "attn_out: dtype FLOAT16, must be BFLOAT16 as q");
  CheckRefused([](Call& c) { c[kSequsedOriKv].desc.dtype = ACL_INT64; }, kInvalid,
               "seqused_ori_kv: dtype INT64, must be INT32");
  CheckRefused([](Call& c) { c[kSinks].desc.dtype = ACL_BF16; }, kInvalid,
               "sinks: dtype BFLOAT16, must be FLOAT");
  CheckRefused([](Call& c) { c.Replace(kQ, ACL_BF16, {6, 64, 576}); }, kInvalid,
               "q: axis 2 (D) is 576, must be 512 (448 without and 64 with rotary embedding in one "
               "vector that is key and value)");
  CheckRefused([](Call& c) { c.Replace(kQ, ACL_BF16, {6, 129, 512}); }, kInvalid,
               "q: axis N1 is 129, must be in [1, 128]");
  CheckRefused([](Call& c) { c.Replace(kQ, ACL_BF16, {2, 3, 64, 512}); }, kInvalid,
               "q: rank 4, must be 3 (T1, N1, D)");
  CheckRefused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {9, 128, 2, 512}); }, kInvalid,
               "ori_kv: axis 2 (N2) is 2, must be 1 (one key/value head)");
  CheckRefused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {9, 1025, 1, 512}); }, kInvalid,
               "ori_kv: axis 1 (block size) is 1025, must be in [1, 1024]");
  CheckRefused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {0, 128, 1, 512}); }, kInvalid,
               "ori_kv: zero elements, must hold at least one token");
  CheckRefused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {4096, 1, 512}); }, kInvalid,
               "cmp_sparse_indices: axis 0 (T1) is 4096, must be 6 as in q");
  CheckRefused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {6, 512}); }, kInvalid,
               "cmp_sparse_indices: rank 2, must be 3 (T1, N2, K2)");
  CheckRefused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {}); }, kInvalid,
               "cmp_sparse_indices: rank 0, must be 3 or 4");
  CheckRefused([](Call& c) { c.Replace(kCmpSparseIndices, ACL_INT32, {6, 1, 0}); }, kInvalid,
               "cmp_sparse_indices: last axis is 0, must be at least 1");
  CheckRefused([](Call& c) { c.Replace(kOriBlockTable, ACL_INT32, {3, 4}); }, kInvalid,
               "ori_block_table: axis 0 (B) is 3, must be 2 (from cu_seqlens_q)");
  CheckRefused([](Call& c) { c.Replace(kMetadata, ACL_INT32, {1023}); }, kInvalid,
               "metadata: axis 0 (words) is 1023, must be 1024 (the words "
               "aclnnSparseFlashMlaMetadata writes)");
  CheckRefused([](Call& c) { c.Replace(kSinks, ACL_FLOAT, {32}); }, kInvalid,
               "sinks: axis 0 (N1) is 32, must be 64 as in q");
  CheckRefused([](Call& c) { c.Replace(kAttnOut, ACL_BF16, {5, 64, 512}); }, kInvalid,
               "attn_out: axis 0 (T1) is 5, must be 6 as in q");
  CheckRefused([](Call& c) { c[kQ].desc.dims[0] = -6; }, kInvalid,
               "q: axis 0 (T1) is -6, must be in [0, 2147483647]");
  CheckRefused([](Call& c) { c[kQ].desc.format = ACL_FORMAT_FRACTAL_NZ; }, kInvalid,
               "q: format 29, must be ACL_FORMAT_ND (2)");
}

TEST_CASE("check: extents beyond what INT32 can name, elements beyond 64 bits") {
  CheckRefused([](Call& c) { c[kOriKv].desc.dims[0] = int64_t{1} << 31; }, kInvalid,
               "ori_kv: axis 0 (pages) is 2147483648, must be in [0, 2147483647]");
  CheckRefused([](Call& c) { c[kQ].desc.dims = {INT64_MAX, 64, 512}; }, kInvalid,
               "q: axis 0 (T1) is 9223372036854775807, must be in [0, 2147483647]");
  CheckRefused(
      [](Call& c) { c[kOriKv].desc.dims = {INT32_MAX, INT32_MAX, 1, 512}; }, kInvalid,
      "ori_kv: extents (2147483647, 2147483647, 1, 512) multiply to more than 2^63 elements");
}

// Lists of `rows` x `width` entries, every one of which is the same element.
void RepeatLists(Call* call, int64_t rows, int64_t width) {
  for (const Slot slot : {kQ, kAttnOut}) call->Replace(slot, ACL_BF16, {rows, 64, 512});
  for (const Slot slot : {kOriSparseIndices, kCmpSparseIndices}) {
    call->Replace(slot, ACL_INT32, {rows, 1, width});
    (*call)[slot].desc.strides = {0, 0, 0};
  }
  call->Replace(kOriTopkLength, ACL_INT32, {rows, 1});
  call->Replace(kCmpTopkLength, ACL_INT32, {rows, 1});
}

TEST_CASE("check: contiguous copies that no workspace can hold") {
  constexpr int64_t kRows = int64_t{1} << 20;
  CheckAccepted([](Call& c) { RepeatLists(&c, kRows, int64_t{1} << 24); });
  CheckRefused([](Call& c) { RepeatLists(&c, kRows, INT32_MAX); }, kInvalid,
               "ori_sparse_indices: not contiguous, and a copy of its 2251799812636672 elements "
               "does not fit into a workspace; all copies of a call take at most 140737488355328 "
               "bytes");
  // One of them would fit.
  CheckRefused([](Call& c) { RepeatLists(&c, kRows, int64_t{3} << 23); }, kInvalid,
               "cmp_sparse_indices: not contiguous, and a copy of its 26388279066624 elements "
               "does not fit into a workspace; all copies of a call take at most 140737488355328 "
               "bytes");
}

TEST_CASE("check: presence follows layout and mode") {
  CheckRefused([](Call& c) { c.Remove(kCuSeqlensQ); }, kInvalid,
               "cu_seqlens_q: absent, must be given with layout_q TND");
  CheckRefused([](Call& c) { c.Remove(kOriBlockTable); }, kInvalid,
               "ori_block_table: absent, must be given with layout_kv PA_BBND");
  CheckRefused([](Call& c) { c.Remove(kSequsedOriKv); }, kInvalid,
               "seqused_ori_kv: absent, must be given with layout_kv PA_BBND unless "
               "ori_sparse_indices are");
  CheckRefused([](Call& c) { c.Remove(kCmpBlockTable); }, kInvalid,
               "cmp_block_table: absent, must be given with cmp_kv and layout_kv PA_BBND");
  CheckRefused([](Call& c) { c.Remove(kCmpResidualKv); }, kInvalid,
               "cmp_residual_kv: absent, must be given with cmp_kv when cmp_mask_mode is 3 and "
               "cmp_ratio is not 1");
  CheckRefused([](Call& c) { c.Remove(kCmpKv); }, kInvalid,
               "cmp_sparse_indices: given without cmp_kv, must come with it");
  CheckRefused([](Call& c) { c.attributes.cmp_mask_mode = 0; }, kInvalid,
               "cmp_topk_length: absent, must be given with cmp_sparse_indices when cmp_mask_mode "
               "is 0");
  CheckAccepted([](Call& c) { c.Remove(kSequsedCmpKv); });
  CheckAccepted([](Call& c) {
    c.attributes.cmp_ratio = 1;
    c.Remove(kCmpResidualKv);
  });
  CheckAccepted([](Call& c) { c.Remove(kCmpSparseIndices); });
}

TEST_CASE("check: zero elements mean absent, what the mode ignores is ignored") {
  CheckAccepted([](Call& c) { c.Replace(kSequsedQ, ACL_INT32, {0}); });
  CheckAccepted([](Call& c) { c.Replace(kOriSparseIndices, ACL_INT32, {0}); });
  CheckAccepted([](Call& c) {
    c.Remove(kCmpKv);
    c.Remove(kCmpSparseIndices);
    c.attributes.cmp_ratio = 0;
    c.attributes.cmp_mask_mode = 77;
  });
  CheckAccepted([](Call& c) { c.Replace(kCuSeqlensOriKv, ACL_INT64, {7, 7}); });
  CheckAccepted([](Call& c) { c.Replace(kSoftmaxLse, ACL_FLOAT, {6, 64, 1}); });
  CheckAccepted([](Call& c) { c[kOriBlockTable].desc.strides = {1, 2}; });
}

TEST_CASE("check: strides of caches and outputs") {
  CheckAccepted([](Call& c) { c[kOriKv].desc.strides[0] = 138 * 512; });
  CheckAccepted([](Call& c) { c[kOriKv].desc.strides[1] = 600; });
  CheckAccepted([](Call& c) { c[kOriKv].desc.strides[2] = 3; });
  CheckAccepted([](Call& c) { c[kOriKv].desc.strides[0] = 0; });
  CheckRefused([](Call& c) { c[kOriKv].desc.strides[1] = 511; }, kInvalid,
               "ori_kv: stride of axis 1 is 511 elements, must be at least 512");
  CheckRefused([](Call& c) { c[kOriKv].desc.strides[3] = 2; }, kInvalid,
               "ori_kv: stride of axis 3 (D) is 2, must be 1");
  CheckRefused([](Call& c) { c[kCmpKv].desc.strides[0] = -512; }, kInvalid,
               "cmp_kv: stride of axis 0 is -512, must be at least 0");
  CheckRefused([](Call& c) { c[kAttnOut].desc.strides[0] = 64 * 512 + 1; }, kInvalid,
               "attn_out: stride of axis 0 is 32769, must be 32768 (an output is contiguous)");
}

TEST_CASE("check: a host pointer is refused, a NULL pointer is for planning") {
  static int32_t values[3];
  Call call;
  call[kCuSeqlensQ].desc.data = values;
  const auto problem = CheckSparseFlashMla(call, Product("cpu"));
  REQUIRE_FALSE(problem.ok());
  CHECK(problem.status().code() == kInvalid);
  CHECK(problem.status().text().find("cu_seqlens_q") == 0);

  call[kCuSeqlensQ].desc.data = reinterpret_cast<char*>(values) + 1;
  CHECK(CheckSparseFlashMla(call, Product("cpu")).status().text().find("multiple of 4") !=
        std::string::npos);
}

TEST_CASE("check: rules of the products") {
  CheckAccepted([](Call&) {}, "ascend910b");
  CheckAccepted([](Call&) {}, "ascend950");
  const auto swa = [](Call& c) {
    c.Remove(kCmpKv);
    c.Remove(kCmpSparseIndices);
  };
  CheckRefused(swa, kInvalid, "cmp_ratio: 4, must be 1 in mode SWA (rules of ascend910b)",
               "ascend910b");
  CheckRefused([](Call& c) { c.attributes.ori_win_left = 63; }, kInvalid,
               "ori_mask_mode, ori_win_left, ori_win_right: 4, 63, 0, must be 4, 127, 0 (rules of "
               "ascend910b)",
               "ascend910b");
  CheckRefused([](Call& c) { c.Replace(kOriKv, ACL_BF16, {9, 24, 1, 512}); }, kInvalid,
               "ori_kv: block size 24, must be a multiple of 16 (rules of ascend910b)",
               "ascend910b");
  CheckRefused([](Call& c) { c.Replace(kCmpTopkLength, ACL_INT32, {6, 1}); }, kInvalid,
               "cmp_topk_length: given, must be absent (rules of ascend910b)", "ascend910b");
  CheckRefused([](Call& c) { c[kOriKv].desc.strides[1] = 600; }, kInvalid,
               "ori_kv: row stride 600, only the page stride may differ from a contiguous tensor "
               "(rules of ascend950)",
               "ascend950");
  CheckAccepted(
      [](Call& c) {
        c.Remove(kCmpSparseIndices);
        c.attributes.cmp_ratio = 128;
        c.Replace(kOriSparseIndices, ACL_INT32, {6, 1, 16});
      },
      "ascend950");
  CheckRefused([](Call& c) { c.attributes.ori_mask_mode = 3; }, kInvalid,
               "ori_win_left, ori_win_right: 127, 0, must be -1, -1 unless ori_mask_mode is 4 "
               "(rules of ascend950)",
               "ascend950");
  CheckRefused([](Call& c) { c.Replace(kCuSeqlensOriKv, ACL_INT32, {3}); }, kInvalid,
               "cu_seqlens_ori_kv: given, must be absent in mode CSA with layout_kv PA_BBND (rules "
               "of ascend950)",
               "ascend950");
  CheckRefused(
      [](Call& c) {
        c.Replace(kQ, ACL_BF16, {6, 48, 512});
        c.Replace(kAttnOut, ACL_BF16, {6, 48, 512});
        c.Replace(kSinks, ACL_FLOAT, {48});
      },
      kInvalid, "query heads N1: 48, must be a power of two (rules of ascend910b)", "ascend910b");
}

}  // namespace
}  // namespace sfmla
