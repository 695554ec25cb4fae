// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_mla/tiling.h"

#include <doctest/doctest.h>

#include <cstring>

#include "op_host/sparse_flash_mla/check.h"
#include "op_kernel/arch/cpu/row_attention.h"
#include "unit/op_host/call_builder.h"

namespace sfmla {
namespace {

using namespace smla_operand;
using test::Call;

constexpr AttentionTarget kTarget{.threads = 3, .head_alignment = 16, .block_tokens = 512};

Launch Plan(const Call& call) {
  const auto problem = CheckSparseFlashMla(call, AllProductRules().front());
  REQUIRE(problem.ok());
  return PlanSparseFlashMla(call, problem.value(), kTarget);
}

SparseFlashMlaTiling TilingOf(const Launch& launch) {
  SparseFlashMlaTiling out;
  REQUIRE(launch.tiling.size() == sizeof(out));
  std::memcpy(&out, launch.tiling.data(), sizeof(out));
  return out;
}

void SetRows(Call* call, int64_t rows) {
  call->Replace(kQ, ACL_BF16, {rows, 64, 512});
  call->Replace(kAttnOut, ACL_BF16, {rows, 64, 512});
  call->Replace(kCmpSparseIndices, ACL_INT32, {rows, 1, 16});
}

TEST_CASE("tiling: equal calls give equal bytes") {
  CHECK(Plan(Call()).tiling == Plan(Call()).tiling);
  Call other;
  other.attributes.ori_win_left = 126;
  CHECK(Plan(Call()).tiling != Plan(other).tiling);
}

TEST_CASE("tiling: workspace slices, by hand") {
  const Launch launch = Plan(Call());
  const AttentionWorkspace workspace = TilingOf(launch).workspace;
  CHECK(workspace.scratch_offset == 0);
  CHECK(workspace.threads == 3);
  CHECK(workspace.scratch_bytes == ThreadScratch::Bytes(64, false));
  CHECK(workspace.split_offset == 3 * workspace.scratch_bytes);
  // 6 rows of at most 16 chunks are more than the 64 slots there can be.
  CHECK(workspace.split_slots == 64);
  // A slot: maximum and sum of 64 heads, 64 x 512 outputs.
  CHECK(launch.workspace_bytes ==
        static_cast<uint64_t>(workspace.split_offset + 64 * (2 * 64 + 64 * 512) * 4));
  CHECK(launch.copies.empty());
}

TEST_CASE("tiling: the workspace does not grow with the query") {
  Call few, many;
  SetRows(&few, 6);
  SetRows(&many, 100000);
  CHECK(Plan(few).workspace_bytes == Plan(many).workspace_bytes);
  Call one;
  SetRows(&one, 1);
  CHECK(TilingOf(Plan(one)).workspace.split_slots == 16);
}

TEST_CASE("tiling: one thread needs less than 1 MiB, whatever the lengths") {
  CHECK(ThreadScratch::Bytes(128, false) <= 1 << 20);
  CHECK(ThreadScratch::Bytes(128, true) <= 1 << 20);
}

TEST_CASE("tiling: strided inputs get a slice of the workspace, caches keep their strides") {
  Call call;
  call[kQ].desc.strides[0] = 2 * 64 * 512;
  call[kSinks].desc.strides[0] = 3;
  call[kOriKv].desc.strides[0] = 200 * 512;
  const Launch launch = Plan(call);
  REQUIRE(launch.copies.size() == 2);
  CHECK(launch.copies[0].operand == kQ);
  CHECK(launch.copies[0].workspace_offset == 0);
  CHECK(launch.copies[1].operand == kSinks);
  CHECK(launch.copies[1].workspace_offset == 6 * 64 * 512 * 2);
  CHECK(TilingOf(launch).ori.outer_stride == 200 * 512);
  // 64 FLOAT take half of the 512 bytes that slices are aligned to.
  CHECK(TilingOf(launch).workspace.scratch_offset == 6 * 64 * 512 * 2 + 512);
}

TEST_CASE("tiling: no query rows, nothing to do") {
  Call call;
  SetRows(&call, 0);
  const Launch launch = Plan(call);
  CHECK(launch.nothing_to_do);
  CHECK(launch.workspace_bytes == 0);
}

}  // namespace
}  // namespace sfmla
