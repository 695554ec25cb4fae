// SPDX-License-Identifier: Apache-2.0
#include "unit/aclnn_api/operator_call.h"

namespace sfmla::test {
namespace {

char kTnd[] = "TND";
char kPaged[] = "PA_BBND";

struct CallTensors {
  explicit CallTensors(const OperatorCall& c)
      : q(c.q, {c.rows, c.heads, kDim}, ACL_BF16),
        ori_kv(c.ori_kv, {c.ori_pages, c.ori_block, 1, kDim}, ACL_BF16),
        cmp_kv(c.cmp_kv, {c.cmp_pages, c.cmp_block, 1, kDim}, ACL_BF16),
        cmp_indices(c.cmp_indices, {c.rows, 1, c.topk}, ACL_INT32),
        ori_table(c.ori_table, {c.batch(), c.columns}, ACL_INT32),
        cmp_table(c.cmp_table, {c.batch(), c.columns}, ACL_INT32),
        cu_seqlens_q(c.cu_seqlens_q, {c.batch() + 1}, ACL_INT32),
        seqused_ori_kv(c.seqused_ori_kv, {c.batch()}, ACL_INT32),
        seqused_cmp_kv(c.seqused_cmp_kv, {c.batch()}, ACL_INT32),
        cmp_residual_kv(c.cmp_residual_kv, {c.batch()}, ACL_INT32),
        sinks(c.sinks, {c.heads}, ACL_FLOAT),
        metadata(c.metadata, {1024}, ACL_INT32),
        // Poison: NaN in both.
        out(std::vector<uint16_t>(c.q.size(), 0x7FC1), {c.rows, c.heads, kDim}, ACL_BF16),
        lse(std::vector<float>(static_cast<size_t>(c.rows * c.heads), NAN), {1, c.rows, c.heads},
            ACL_FLOAT) {}

  DeviceTensor q, ori_kv, cmp_kv, cmp_indices, ori_table, cmp_table, cu_seqlens_q, seqused_ori_kv,
      seqused_cmp_kv, cmp_residual_kv, sinks, metadata, out, lse;
};

// Phase two with a workspace that lives until the stream has passed it.
aclError Launch(decltype(&aclnnSparseFlashMla) phase_two, uint64_t workspace_bytes,
                aclOpExecutor* executor, const StreamScope& stream, std::string* text) {
  void* workspace = nullptr;
  if (workspace_bytes > 0) {
    REQUIRE(aclrtMalloc(&workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  }
  REQUIRE(phase_two(workspace, workspace_bytes, executor, stream.get()) == ACL_SUCCESS);
  const aclError code = stream.Synchronize(text);
  if (workspace != nullptr) aclrtFree(workspace);
  return code;
}

}  // namespace

OperatorResult Run(const OperatorCall& call, const StreamScope& stream, CallOptions options) {
  const CallTensors t(call);
  const auto if_cmp = [&](const DeviceTensor& tensor) {
    return call.has_cmp ? tensor.get() : nullptr;
  };
  OperatorResult result;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  if (options.plan) {
    REQUIRE(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
                t.cu_seqlens_q.get(), nullptr, nullptr, nullptr, t.seqused_ori_kv.get(),
                if_cmp(t.seqused_cmp_kv), if_cmp(t.cmp_residual_kv), nullptr, nullptr, call.heads,
                1, kDim, call.batch(), 0, 0, 0, 0, call.has_cmp ? call.topk : 0, call.cmp_ratio, 4,
                3, 127, 0, kTnd, kPaged, true, call.has_cmp, t.metadata.get(), &bytes,
                &executor) == ACL_SUCCESS);
    result.plan_code = Launch(aclnnSparseFlashMlaMetadata, bytes, executor, stream, &result.text);
  }
  REQUIRE(aclnnSparseFlashMlaGetWorkspaceSize(
              t.q.get(), t.ori_kv.get(), if_cmp(t.cmp_kv), nullptr, if_cmp(t.cmp_indices),
              t.ori_table.get(), if_cmp(t.cmp_table), t.cu_seqlens_q.get(), nullptr, nullptr,
              nullptr, t.seqused_ori_kv.get(), if_cmp(t.seqused_cmp_kv), if_cmp(t.cmp_residual_kv),
              nullptr, nullptr, t.sinks.get(), t.metadata.get(), 0.044194173824159216,
              call.cmp_ratio, 4, 3, 127, 0, kTnd, kPaged, 1, true, t.out.get(), t.lse.get(), &bytes,
              &executor) == ACL_SUCCESS);
  std::string text;
  result.code = Launch(aclnnSparseFlashMla, bytes, executor, stream, &text);
  if (result.plan_code == 0) result.text = text;
  result.out = t.out.Values<uint16_t>();
  result.lse = t.lse.Values<float>();
  result.metadata = t.metadata.Values<int32_t>();
  return result;
}

}  // namespace sfmla::test
