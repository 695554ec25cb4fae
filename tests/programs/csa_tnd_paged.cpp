// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla as a decoding step with packed queries (TND) and paged caches: three requests, a
// window of 128 original tokens and lists of compressed tokens (CSA), in float16.
#include <string>

#include "aclnn/opdev/fp16_t.h"
#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "example_common.h"

namespace {

constexpr int64_t kRequests = 3, kRows = 8, kHeads = 8, kWidth = 512, kTopk = 64, kRatio = 4;
constexpr int64_t kOriPage = 32, kOriPagesPerRequest = 17, kCmpPage = 16, kCmpPagesPerRequest = 8;
constexpr double kScale = 0.04419417382415922;  // 1 / sqrt(512)
const std::vector<int32_t> kRowSums{0, 3, 4, 8};
const std::vector<int32_t> kOriTokens{70, 200, 515}, kCmpTokens{17, 50, 128}, kResidual{2, 0, 3};

struct Operands {
  aclTensor *q, *ori_kv, *cmp_kv, *cmp_sparse_indices, *ori_block_table, *cmp_block_table;
  aclTensor *cu_seqlens_q, *seqused_ori_kv, *seqused_cmp_kv, *cmp_residual_kv, *sinks;
  aclTensor *metadata, *attn_out, *softmax_lse, *absent;
};

std::vector<op::fp16_t> Halves(uint32_t input, const std::vector<int64_t>& shape) {
  std::vector<op::fp16_t> numbers(GetShapeSize(shape));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = Element(input, static_cast<uint32_t>(i));
  }
  return numbers;
}

// Unsorted, with ids that appear twice and ids that no row may see; the last 8 lanes are unused.
std::vector<int32_t> IndexLists() {
  std::vector<int32_t> lanes(kRows * kTopk, -1);
  for (int64_t row = 0, request = 0; row < kRows; ++row) {
    if (row == kRowSums[request + 1]) ++request;
    for (int64_t lane = 0; lane < kTopk - 8; ++lane) {
      const auto i = static_cast<uint32_t>(row * kTopk + lane);
      lanes[i] = static_cast<int32_t>(Mixed(5, i) % (kCmpTokens[request] + 4));
    }
  }
  return lanes;
}

// Page `step * i` modulo the number of pages for place i: neighbours lie apart.
std::vector<int32_t> BlockTable(int64_t pages, int64_t step) {
  std::vector<int32_t> table(pages);
  for (int64_t i = 0; i < pages; ++i) table[i] = static_cast<int32_t>(step * i % pages);
  return table;
}

int CreateInputs(Session* session, Operands* to) {
  const int64_t ori_pages = kRequests * kOriPagesPerRequest;
  const int64_t cmp_pages = kRequests * kCmpPagesPerRequest;
  const std::vector<int64_t> q_shape{kRows, kHeads, kWidth};
  const std::vector<int64_t> ori_shape{ori_pages, kOriPage, 1, kWidth};
  const std::vector<int64_t> cmp_shape{cmp_pages, kCmpPage, 1, kWidth};
  std::vector<float> sinks(kHeads);
  for (uint32_t head = 0; head < kHeads; ++head) sinks[head] = Element(4, head);

  CHECK_CALL(CreateAclTensor(session, Halves(1, q_shape), q_shape, ACL_FLOAT16, &to->q));
  CHECK_CALL(CreateAclTensor(session, Halves(2, ori_shape), ori_shape, ACL_FLOAT16, &to->ori_kv));
  CHECK_CALL(CreateAclTensor(session, Halves(3, cmp_shape), cmp_shape, ACL_FLOAT16, &to->cmp_kv));
  CHECK_CALL(CreateAclTensor(session, IndexLists(), {kRows, 1, kTopk}, ACL_INT32,
                             &to->cmp_sparse_indices));
  CHECK_CALL(CreateAclTensor(session, BlockTable(ori_pages, 50), {kRequests, kOriPagesPerRequest},
                             ACL_INT32, &to->ori_block_table));
  CHECK_CALL(CreateAclTensor(session, BlockTable(cmp_pages, 5), {kRequests, kCmpPagesPerRequest},
                             ACL_INT32, &to->cmp_block_table));
  CHECK_CALL(CreateAclTensor(session, kRowSums, {kRequests + 1}, ACL_INT32, &to->cu_seqlens_q));
  CHECK_CALL(CreateAclTensor(session, kOriTokens, {kRequests}, ACL_INT32, &to->seqused_ori_kv));
  CHECK_CALL(CreateAclTensor(session, kCmpTokens, {kRequests}, ACL_INT32, &to->seqused_cmp_kv));
  CHECK_CALL(CreateAclTensor(session, kResidual, {kRequests}, ACL_INT32, &to->cmp_residual_kv));
  CHECK_CALL(CreateAclTensor(session, sinks, {kHeads}, ACL_FLOAT, &to->sinks));
  CHECK_CALL(CreateAclTensor(session, std::vector<int32_t>(), {0}, ACL_INT32, &to->absent));
  return ACL_SUCCESS;
}

int CreateOutputs(Session* session, Operands* to) {
  const std::vector<op::fp16_t> poison(kRows * kHeads * kWidth, op::fp16_t(uint16_t{0x7E00}));
  CHECK_CALL(
      CreateAclTensor(session, std::vector<int32_t>(1024, -1), {1024}, ACL_INT32, &to->metadata));
  CHECK_CALL(CreateAclTensor(session, poison, {kRows, kHeads, kWidth}, ACL_FLOAT16, &to->attn_out));
  // Not asked for below: its shape is nobody's business.
  CHECK_CALL(CreateAclTensor(session, std::vector<float>(kRows * kHeads, 7.0f), {kRows, kHeads, 1},
                             ACL_FLOAT, &to->softmax_lse));
  return ACL_SUCCESS;
}

int Plan(const Session& session, const Operands& of) {
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_CALL(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
      of.cu_seqlens_q, of.absent, of.absent, of.absent, of.seqused_ori_kv, of.seqused_cmp_kv,
      of.cmp_residual_kv, of.absent, of.absent, kHeads, 1, kWidth, kRequests, 4, 8192, 2048, 0,
      kTopk, kRatio, 4, 3, 127, 0, "TND", "PA_BBND", true, true, of.metadata, &workspace_bytes,
      &executor));
  return RunAndWait(aclnnSparseFlashMlaMetadata, workspace_bytes, executor, session.stream);
}

int Attend(const Session& session, const Operands& of) {
  std::string layout_q = "TND", layout_kv = "PA_BBND";
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_CALL(aclnnSparseFlashMlaGetWorkspaceSize(
      of.q, of.ori_kv, of.cmp_kv, nullptr, of.cmp_sparse_indices, of.ori_block_table,
      of.cmp_block_table, of.cu_seqlens_q, nullptr, nullptr, nullptr, of.seqused_ori_kv,
      of.seqused_cmp_kv, of.cmp_residual_kv, nullptr, nullptr, of.sinks, of.metadata, kScale,
      kRatio, 4, 3, 127, 0, layout_q.data(), layout_kv.data(), 1, false, of.attn_out,
      of.softmax_lse, &workspace_bytes, &executor));
  return RunAndWait(aclnnSparseFlashMla, workspace_bytes, executor, session.stream);
}

int Run() {
  Session session;
  Operands operands{};
  CHECK_CALL(Init(&session));
  CHECK_CALL(CreateInputs(&session, &operands));
  CHECK_CALL(CreateOutputs(&session, &operands));
  CHECK_CALL(Plan(session, operands));
  CHECK_CALL(Attend(session, operands));

  std::vector<op::fp16_t> attn_out(kRows * kHeads * kWidth);
  std::vector<float> softmax_lse(kRows * kHeads);
  CHECK_CALL(CopyToHost(operands.attn_out, &attn_out));
  CHECK_CALL(CopyToHost(operands.softmax_lse, &softmax_lse));
  PrintOutResult("attn_out", std::vector<float>(attn_out.begin(), attn_out.end()));
  PrintOutResult("softmax_lse", softmax_lse);
  return Finalize(&session);
}

}  // namespace

int main() { return Run() == ACL_SUCCESS ? 0 : 1; }
