// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla on batched queries and caches (BSND): two requests, a window of 128 original
// tokens and all compressed tokens up to the causal threshold (HCA), in bfloat16, with the LSE.
#include <cstring>
#include <string>

#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "example_common.h"

namespace {

constexpr int64_t kRequests = 2, kRows = 4, kHeads = 8, kWidth = 512, kRatio = 128;
constexpr int64_t kOriTokens = 300, kCmpTokens = 2, kResidual = 44;
constexpr double kScale = 0.04419417382415922;  // 1 / sqrt(512)

struct Operands {
  aclTensor *q, *ori_kv, *cmp_kv, *cmp_residual_kv, *sinks, *metadata, *attn_out, *softmax_lse;
};

// bfloat16 is the upper half of a float; the numbers of this program have no lower half.
uint16_t ToBfloat16(float number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}
float ToFloat(uint16_t bfloat16) {
  const uint32_t bits = static_cast<uint32_t>(bfloat16) << 16;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

int CreateBfloat16(Session* session, uint32_t input, const std::vector<int64_t>& shape,
                   aclTensor** tensor) {
  std::vector<uint16_t> numbers(GetShapeSize(shape));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = ToBfloat16(Element(input, static_cast<uint32_t>(i)));
  }
  return CreateAclTensor(session, numbers, shape, ACL_BF16, tensor);
}

int CreateOperands(Session* session, Operands* to) {
  const std::vector<int64_t> q_shape{kRequests, kRows, kHeads, kWidth};
  const std::vector<uint16_t> poison(GetShapeSize(q_shape), 0x7FC0);  // NaN
  const std::vector<float> lse_poison(kRequests * kRows * kHeads, ToFloat(0x7FC0));
  std::vector<float> sinks(kHeads);
  for (uint32_t head = 0; head < kHeads; ++head) sinks[head] = Element(4, head);

  CHECK_CALL(CreateBfloat16(session, 1, q_shape, &to->q));
  CHECK_CALL(CreateBfloat16(session, 2, {kRequests, kOriTokens, 1, kWidth}, &to->ori_kv));
  CHECK_CALL(CreateBfloat16(session, 3, {kRequests, kCmpTokens, 1, kWidth}, &to->cmp_kv));
  CHECK_CALL(CreateAclTensor(session, std::vector<int32_t>(kRequests, kResidual), {kRequests},
                             ACL_INT32, &to->cmp_residual_kv));
  CHECK_CALL(CreateAclTensor(session, sinks, {kHeads}, ACL_FLOAT, &to->sinks));
  CHECK_CALL(
      CreateAclTensor(session, std::vector<int32_t>(1024, -1), {1024}, ACL_INT32, &to->metadata));
  CHECK_CALL(CreateAclTensor(session, poison, q_shape, ACL_BF16, &to->attn_out));
  CHECK_CALL(CreateAclTensor(session, lse_poison, {kRequests, 1, kRows, kHeads}, ACL_FLOAT,
                             &to->softmax_lse));
  return ACL_SUCCESS;
}

int Plan(const Session& session, const Operands& of) {
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_CALL(aclnnSparseFlashMlaMetadataGetWorkspaceSize(
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, of.cmp_residual_kv, nullptr, nullptr,
      kHeads, 1, kWidth, kRequests, kRows, kOriTokens, kCmpTokens, 0, 0, kRatio, 4, 3, 127, 0,
      "BSND", "BSND", true, true, of.metadata, &workspace_bytes, &executor));
  return RunAndWait(aclnnSparseFlashMlaMetadata, workspace_bytes, executor, session.stream);
}

int Attend(const Session& session, const Operands& of) {
  std::string layout_q = "BSND", layout_kv = "BSND";
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_CALL(aclnnSparseFlashMlaGetWorkspaceSize(
      of.q, of.ori_kv, of.cmp_kv, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, of.cmp_residual_kv, nullptr, nullptr, of.sinks, of.metadata,
      kScale, kRatio, 4, 3, 127, 0, layout_q.data(), layout_kv.data(), 1, true, of.attn_out,
      of.softmax_lse, &workspace_bytes, &executor));
  return RunAndWait(aclnnSparseFlashMla, workspace_bytes, executor, session.stream);
}

int Run() {
  Session session;
  Operands operands{};
  CHECK_CALL(Init(&session));
  CHECK_CALL(CreateOperands(&session, &operands));
  CHECK_CALL(Plan(session, operands));
  CHECK_CALL(Attend(session, operands));

  std::vector<uint16_t> attn_out(kRequests * kRows * kHeads * kWidth);
  std::vector<float> softmax_lse(kRequests * kRows * kHeads), numbers;
  CHECK_CALL(CopyToHost(operands.attn_out, &attn_out));
  CHECK_CALL(CopyToHost(operands.softmax_lse, &softmax_lse));
  for (const uint16_t bfloat16 : attn_out) numbers.push_back(ToFloat(bfloat16));
  PrintOutResult("attn_out", numbers);
  PrintOutResult("softmax_lse", softmax_lse);
  return Finalize(&session);
}

}  // namespace

int main() { return Run() == ACL_SUCCESS ? 0 : 1; }
