// SPDX-License-Identifier: Apache-2.0
// The bridge between CANN and op_host. It needs no toolkit, so the unit tests of the host library
// have it too.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "cann/bridge/planner.h"
#include "cann/bridge/sparse_flash_mla.h"
#include "cann/bridge/sparse_flash_mla_metadata.h"
#include "op_kernel/sparse_flash_mla_metadata/metadata_layout.h"

namespace sfmla::cann {
namespace {

// Numbers of ge::DataType as published.
constexpr int32_t kFloat = 0;
constexpr int32_t kFloat16 = 1;
constexpr int32_t kInt32 = 3;
constexpr int32_t kBfloat16 = 27;

OperandView Tensor(int32_t data_type, std::vector<int64_t> dims) {
  OperandView out;
  out.given = true;
  out.data_type = data_type;
  out.dims = std::move(dims);
  return out;
}

// CSA: packed queries of two requests, paged caches of 9 and 5 pages.
SparseFlashMlaCall Csa(int32_t element_type) {
  using namespace smla_operand;
  SparseFlashMlaCall out;
  out.operands[kQ] = Tensor(element_type, {6, 64, 512});
  out.operands[kOriKv] = Tensor(element_type, {9, 128, 1, 512});
  out.operands[kCmpKv] = Tensor(element_type, {5, 32, 1, 512});
  out.operands[kCmpSparseIndices] = Tensor(kInt32, {6, 1, 16});
  out.operands[kOriBlockTable] = Tensor(kInt32, {2, 4});
  out.operands[kCmpBlockTable] = Tensor(kInt32, {2, 3});
  out.operands[kCuSeqlensQ] = Tensor(kInt32, {3});
  out.operands[kSequsedOriKv] = Tensor(kInt32, {2});
  out.operands[kSequsedCmpKv] = Tensor(kInt32, {2});
  out.operands[kCmpResidualKv] = Tensor(kInt32, {2});
  out.operands[kSinks] = Tensor(kFloat, {64});
  out.operands[kMetadata] = Tensor(kInt32, {1024});
  out.operands[kAttnOut] = Tensor(element_type, {6, 64, 512});
  out.cmp_ratio = 4;
  out.ori_mask_mode = 4;
  out.cmp_mask_mode = 3;
  out.ori_win_left = 127;
  out.ori_win_right = 0;
  out.layout_q = "TND";
  out.layout_kv = "PA_BBND";
  return out;
}

SparseFlashMlaMetadataCall CsaPlan() {
  using namespace metadata_operand;
  SparseFlashMlaMetadataCall out;
  out.operands[kCuSeqlensQ] = Tensor(kInt32, {3});
  out.operands[kSequsedOriKv] = Tensor(kInt32, {2});
  out.operands[kSequsedCmpKv] = Tensor(kInt32, {2});
  out.operands[kCmpResidualKv] = Tensor(kInt32, {2});
  out.operands[kMetadata] = Tensor(kInt32, {1024});
  out.num_heads_q = 64;
  out.num_heads_kv = 1;
  out.head_dim = 512;
  out.cmp_topk = 16;
  out.cmp_ratio = 4;
  out.ori_mask_mode = 4;
  out.cmp_mask_mode = 3;
  out.ori_win_left = 127;
  out.ori_win_right = 0;
  out.layout_q = "TND";
  out.layout_kv = "PA_BBND";
  return out;
}

TEST_CASE("bridge: a good call says which operands the kernel takes, and how") {
  using namespace smla_operand;
  SparseFlashMlaUse use;
  const Refusal refusal = CheckCall(Csa(kBfloat16), &use);
  REQUIRE_MESSAGE(refusal.ok(), refusal.text);
  CHECK_FALSE(use.nothing_to_do);
  CHECK(use.used[kOriKv]);
  CHECK_FALSE(use.contiguous[kOriKv]);
  CHECK(use.contiguous[kQ]);
  CHECK_FALSE(use.used[kOriSparseIndices]);
  CHECK(use.used[kAttnOut]);
  CHECK_FALSE(use.contiguous[kAttnOut]);
  CHECK_FALSE(use.used[kSoftmaxLse]);
}

TEST_CASE("bridge: refusals are those of the host library under the rules of A2 and A3") {
  using namespace smla_operand;
  SparseFlashMlaUse use;
  SparseFlashMlaCall call = Csa(kBfloat16);
  call.operands[kCmpKv].data_type = kFloat16;
  Refusal refusal = CheckCall(call, &use);
  CHECK(refusal.code == 161002);
  CHECK(refusal.text == "cmp_kv: dtype FLOAT16, must be BFLOAT16 as q");

  call = Csa(kBfloat16);
  call.operands[kMetadata] = OperandView();
  refusal = CheckCall(call, &use);
  CHECK(refusal.code == 161001);
  CHECK(refusal.text == "metadata: NULL, must be a tensor");

  // Any window is fine on the CPU device; these products have one.
  call = Csa(kBfloat16);
  call.ori_win_left = 63;
  refusal = CheckCall(call, &use);
  CHECK(refusal.code == 161002);
  CHECK(refusal.text.find("ascend910b") != std::string::npos);
}

TEST_CASE("bridge: tiling for a launch on 24 groups of cores") {
  SparseFlashMlaPlan plan;
  REQUIRE(PlanCall(Csa(kBfloat16), 24, &plan).ok());
  const AttentionTiling& host = plan.tiling.call;
  CHECK(plan.tiling_key == 1);
  CHECK(host.rules.heads == 64);
  CHECK(host.rules.cmp_topk == 16);
  CHECK(host.batch == 2);
  CHECK(host.query_rows == 6);
  CHECK(host.block_tokens == 512);
  CHECK(host.ori.outer_stride == 128 * 512);
  // Nothing of the host's own workspace, by hand: the rest as device_tiling.h lays it out.
  CHECK(host.workspace.scratch_bytes == 0);
  CHECK(plan.tiling.workspace.groups == 24);
  CHECK(plan.tiling.workspace.scores == 0);
  CHECK(plan.tiling.workspace.probabilities == int64_t{24} * 2 * 64 * 512 * 4);
  CHECK(plan.tiling.workspace.split_slots == 64);
  CHECK(plan.tiling.workspace.bytes ==
        plan.tiling.workspace.partials + int64_t{64} * (2 * 64 + 64 * 512) * 4);

  REQUIRE(PlanCall(Csa(kFloat16), 24, &plan).ok());
  CHECK(plan.tiling_key == 0);
}

TEST_CASE("bridge: strides of caches reach the tiling") {
  SparseFlashMlaCall call = Csa(kBfloat16);
  call.operands[smla_operand::kOriKv].strides = {300 * 512, 512, 512, 1};
  SparseFlashMlaPlan plan;
  REQUIRE(PlanCall(call, 1, &plan).ok());
  CHECK(plan.tiling.call.ori.outer_stride == 300 * 512);
  CHECK(plan.tiling.call.ori.token_stride == 512);
}

TEST_CASE("bridge: without query rows there is nothing to launch") {
  using namespace smla_operand;
  SparseFlashMlaCall call = Csa(kBfloat16);
  call.operands[kQ].dims[0] = 0;
  call.operands[kAttnOut].dims[0] = 0;
  // Window only: an index list without rows would pass for an absent one.
  call.operands[kCmpKv] = OperandView();
  call.operands[kCmpSparseIndices] = OperandView();
  call.cmp_ratio = 1;
  SparseFlashMlaUse use;
  const Refusal refusal = CheckCall(call, &use);
  REQUIRE_MESSAGE(refusal.ok(), refusal.text);
  CHECK(use.nothing_to_do);
  SparseFlashMlaPlan plan;
  CHECK(PlanCall(call, 24, &plan).code == 161002);
}

TEST_CASE("bridge: shape of softmax_lse") {
  using Dims = std::vector<int64_t>;
  CHECK(LseDims({2, 3, 64, 512}, "BSND") == Dims{2, 1, 3, 64});
  CHECK(LseDims({6, 64, 512}, "TND") == Dims{1, 6, 64});
  CHECK(LseDims({-1, 64, 512}, "TND") == Dims{1, -1, 64});
  CHECK(LseDims({-2}, "TND") == Dims{-2});
}

TEST_CASE("bridge: the AI CPU writes the plan that the words describe") {
  using namespace metadata_operand;
  SparseFlashMlaMetadataPlan plan;
  const Refusal refusal = PlanCall(CsaPlan(), 24, 48, &plan);
  REQUIRE_MESSAGE(refusal.ok(), refusal.text);
  CHECK(plan.used[kCuSeqlensQ]);
  CHECK_FALSE(plan.used[kSequsedQ]);

  std::array<int32_t, 3> cu_seqlens_q{0, 4, 6};
  std::array<int32_t, 2> seqused_ori_kv{400, 300};
  std::array<int32_t, 2> seqused_cmp_kv{90, 75};
  std::array<int32_t, 2> cmp_residual_kv{1, 0};
  Metadata metadata;
  std::memset(&metadata, 0xFF, sizeof(metadata));
  PlannerOperands operands{};
  operands[kCuSeqlensQ] = cu_seqlens_q.data();
  operands[kSequsedOriKv] = seqused_ori_kv.data();
  operands[kSequsedCmpKv] = seqused_cmp_kv.data();
  operands[kCmpResidualKv] = cmp_residual_kv.data();
  operands[kMetadata] = &metadata;
  REQUIRE(WriteMetadata(plan.tiling, operands).ok());
  CHECK(metadata.magic == kMagic);
  CHECK(metadata.digest.heads == 64);
  CHECK(metadata.digest.batch == 2);
  CHECK(metadata.digest.cmp_topk == 16);
  // 6 rows for 24 cores: a row each at most.
  CHECK(metadata.schedule.cube[0].enable == 1);
  CHECK(metadata.schedule.cube[24].enable == 0);

  cu_seqlens_q[1] = 7;
  const Refusal bad = WriteMetadata(plan.tiling, operands);
  CHECK(bad.code == 507018);
  CHECK(bad.text.find("cu_seqlens_q") != std::string::npos);
  CHECK(metadata.magic == 0);
}

}  // namespace
}  // namespace sfmla::cann
