// SPDX-License-Identifier: Apache-2.0
#include "unit/aclnn_api/operator_call.h"

#include <random>

namespace sfmla::test {
namespace {

char kTnd[] = "TND";
char kPaged[] = "PA_BBND";
char kPagedNd[] = "PA_ND";

uint16_t Bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

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

void Collect(const CallTensors& tensors, OperatorResult* result) {
  result->out = tensors.out.Values<uint16_t>();
  result->lse = tensors.lse.Values<float>();
  result->metadata = tensors.metadata.Values<int32_t>();
}

}  // namespace

aclError RunPhaseTwo(decltype(&aclnnSparseFlashMla) phase_two, uint64_t workspace_bytes,
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

OperatorCall MakeCall(const std::vector<std::pair<int32_t, int32_t>>& requests, uint32_t seed,
                      bool zero_query) {
  OperatorCall call;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<uint16_t>* out, int64_t count) {
    out->resize(static_cast<size_t>(count));
    for (uint16_t& value : *out) value = Bfloat16(normal(random));
  };
  for (const auto& [query_rows, tokens] : requests) {
    call.cu_seqlens_q.push_back(call.cu_seqlens_q.back() + query_rows);
    call.seqused_ori_kv.push_back(tokens);
    call.seqused_cmp_kv.push_back(tokens / static_cast<int32_t>(call.cmp_ratio));
    call.cmp_residual_kv.push_back(tokens % static_cast<int32_t>(call.cmp_ratio));
  }
  call.rows = call.cu_seqlens_q.back();
  fill(&call.q, call.rows * call.heads * kDim);
  if (zero_query) std::fill(call.q.begin(), call.q.end(), uint16_t{0});
  fill(&call.ori_kv, call.ori_pages * call.ori_block * kDim);
  fill(&call.cmp_kv, call.cmp_pages * call.cmp_block * kDim);
  for (int64_t i = 0; i < call.batch() * call.columns; ++i) {
    call.ori_table.push_back(static_cast<int32_t>((i * 7 + 3) % call.ori_pages));
    call.cmp_table.push_back(static_cast<int32_t>((i * 5 + 1) % call.cmp_pages));
  }
  for (int64_t i = 0; i < call.rows * call.topk; ++i) {
    call.cmp_indices.push_back(static_cast<int32_t>(i % call.topk));
  }
  for (int64_t head = 0; head < call.heads; ++head) {
    call.sinks.push_back(0.25f * static_cast<float>(head));
  }
  return call;
}

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
    result.plan_code =
        RunPhaseTwo(aclnnSparseFlashMlaMetadata, bytes, executor, stream, &result.text);
  }
  REQUIRE(aclnnSparseFlashMlaGetWorkspaceSize(
              t.q.get(), t.ori_kv.get(), if_cmp(t.cmp_kv), nullptr, if_cmp(t.cmp_indices),
              t.ori_table.get(), if_cmp(t.cmp_table), t.cu_seqlens_q.get(), nullptr, nullptr,
              nullptr, t.seqused_ori_kv.get(), if_cmp(t.seqused_cmp_kv), if_cmp(t.cmp_residual_kv),
              nullptr, nullptr, t.sinks.get(), t.metadata.get(), 0.044194173824159216,
              call.cmp_ratio, 4, 3, 127, 0, kTnd, kPaged, 1, true, t.out.get(), t.lse.get(), &bytes,
              &executor) == ACL_SUCCESS);
  std::string text;
  result.code = RunPhaseTwo(aclnnSparseFlashMla, bytes, executor, stream, &text);
  if (result.plan_code == 0) result.text = text;
  Collect(t, &result);
  return result;
}

OperatorResult RunSharedKv(const OperatorCall& call, const StreamScope& stream,
                           const SharedKvOptions& options) {
  const CallTensors t(call);
  const DeviceTensor lse(std::vector<float>(static_cast<size_t>(call.rows * call.heads), NAN),
                         {call.rows, call.heads, 1}, ACL_FLOAT);
  const DeviceTensor seqused_q(options.seqused_q, {static_cast<int64_t>(options.seqused_q.size())},
                               ACL_INT32);
  const auto if_cmp = [&](const DeviceTensor& tensor) {
    return call.has_cmp ? tensor.get() : nullptr;
  };
  const bool listed = call.has_cmp && !options.dense;
  OperatorResult result;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  if (options.plan) {
    REQUIRE(aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(
                t.cu_seqlens_q.get(), nullptr, nullptr, seqused_q.get(), t.seqused_ori_kv.get(),
                call.heads, 1, kDim, 0, 0, 0, 0, listed ? call.topk : 0, call.cmp_ratio, 4, 3, 127,
                options.window_right, kTnd, kPagedNd, true, call.has_cmp, t.metadata.get(), &bytes,
                &executor) == ACL_SUCCESS);
    result.plan_code =
        RunPhaseTwo(aclnnSparseAttnSharedkvMetadata, bytes, executor, stream, &result.text);
  }
  REQUIRE(aclnnSparseAttnSharedkvGetWorkspaceSize(
              t.q.get(), t.ori_kv.get(), if_cmp(t.cmp_kv), nullptr,
              listed ? t.cmp_indices.get() : nullptr, t.ori_table.get(), if_cmp(t.cmp_table),
              t.cu_seqlens_q.get(), nullptr, nullptr, seqused_q.get(), t.seqused_ori_kv.get(),
              t.sinks.get(), t.metadata.get(), 0.044194173824159216, call.cmp_ratio, 4, 3,
              options.ori_stride, options.cmp_stride, 127, options.window_right, kTnd, kPagedNd,
              true, t.out.get(), lse.get(), &bytes, &executor) == ACL_SUCCESS);
  std::string text;
  result.code = RunPhaseTwo(aclnnSparseAttnSharedkv, bytes, executor, stream, &text);
  if (result.plan_code == 0) result.text = text;
  Collect(t, &result);
  result.lse = lse.Values<float>();
  return result;
}

}  // namespace sfmla::test
