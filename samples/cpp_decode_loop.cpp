// SPDX-License-Identifier: Apache-2.0
// Decoding as an engine does it: paged caches, one plan per step shared by all layers, one
// workspace, no host wait between the calls of a step. Query heads and cached tokens are constant
// vectors, so the right answer is a scalar sum.
#include <cmath>
#include <vector>

#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "sample_util.h"

constexpr int kLayers = 3, kSteps = 4, kRequests = 3, kHeads = 16, kWidth = 512, kPage = 128;
constexpr int kPagesPerRequest = 6, kPages = kRequests * kPagesPerRequest;
constexpr double kScale = 0.04419417382415922;  // 1 / sqrt(512)
static char tnd[] = "TND", paged[] = "PA_BBND";

static float QueryElement(int head) { return head / 64.0f; }
static float TokenElement(int layer, int request, int token) {
  return (token * 37 + request * 11 + layer * 5) % 64 / 32.0f - 1;
}

static std::vector<aclFloat16> Queries() {
  std::vector<aclFloat16> q(kRequests * kHeads * kWidth);
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = aclFloatToFloat16(QueryElement(static_cast<int>(i / kWidth % kHeads)));
  }
  return q;
}

// Tokens still to come are in the cache already; pages lie in the pool in reverse order.
static std::vector<aclFloat16> Cache(int layer) {
  std::vector<aclFloat16> cache(kPages * kPage * kWidth);
  for (int i = 0; i < kPages * kPage * kWidth; ++i) {
    const int page = kPages - 1 - i / (kPage * kWidth), slot = i / kWidth % kPage;
    cache[i] = aclFloatToFloat16(
        TokenElement(layer, page / kPagesPerRequest, page % kPagesPerRequest * kPage + slot));
  }
  return cache;
}

static int CountWrong(aclTensor* out, int layer, const std::vector<int32_t>& lengths) {
  std::vector<aclFloat16> found(kRequests * kHeads * kWidth);
  Download(out, found.data(), found.size() * sizeof found[0]);
  int wrong = 0;
  for (int lane = 0; lane < kRequests * kHeads; ++lane) {
    const int request = lane / kHeads, tokens = lengths[request];
    double value = 0, sum = 1;  // the sink is 0
    for (int token = tokens > 128 ? tokens - 128 : 0; token < tokens; ++token) {
      const double key = TokenElement(layer, request, token);
      const double weight = std::exp(kScale * kWidth * QueryElement(lane % kHeads) * key);
      sum += weight;
      value += weight * key;
    }
    for (int i = lane * kWidth; i < (lane + 1) * kWidth; ++i) {
      wrong += !(std::fabs(aclFloat16ToFloat(found[i]) - value / sum) <= 0.001);
    }
  }
  return wrong;
}

int main() {
  Session session = OpenSession();
  std::vector<int32_t> lengths{1, 126, 700}, pages(kPages), query_rows{0, 1, 2, 3};
  for (int i = 0; i < kPages; ++i) pages[i] = kPages - 1 - i;
  const int64_t q_dims[] = {kRequests, kHeads, kWidth}, cache_dims[] = {kPages, kPage, 1, kWidth};
  const int64_t table_dims[] = {kRequests, kPagesPerRequest}, rows_dims[] = {kRequests + 1};
  const int64_t heads_dims[] = {kHeads}, requests_dims[] = {kRequests}, plan_dims[] = {1024};
  aclTensor* q = MakeOperand(ACL_FLOAT16, 3, q_dims, Queries().data());
  aclTensor* sinks = MakeOperand(ACL_FLOAT, 1, heads_dims, std::vector<float>(kHeads).data());
  aclTensor* cu_seqlens_q = MakeOperand(ACL_INT32, 1, rows_dims, query_rows.data());
  aclTensor* table = MakeOperand(ACL_INT32, 2, table_dims, pages.data());
  aclTensor* seqused = MakeOperand(ACL_INT32, 1, requests_dims, lengths.data());
  aclTensor* metadata = MakeOperand(ACL_INT32, 1, plan_dims, nullptr);
  std::vector<aclTensor*> caches, outs;
  for (int layer = 0; layer < kLayers; ++layer) {
    caches.push_back(MakeOperand(ACL_FLOAT16, 4, cache_dims, Cache(layer).data()));
    outs.push_back(MakeOperand(ACL_FLOAT16, 3, q_dims, nullptr));
  }

  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  for (int step = 0; step < kSteps; ++step) {
    for (int32_t& length : lengths) length += step > 0;
    Upload(seqused, lengths.data(), lengths.size() * sizeof lengths[0]);
    int status = aclnnSparseFlashMlaMetadataGetWorkspaceSize(
        cu_seqlens_q, nullptr, nullptr, nullptr, seqused, nullptr, nullptr, nullptr, nullptr,
        kHeads, 1, kWidth, kRequests, 0, 0, 0, 0, 0, 1, 4, 0, 127, 0, tnd, paged, true, false,
        metadata, &bytes, &executor);
    Launch(&session, aclnnSparseFlashMlaMetadata, status, bytes, executor);
    for (int layer = 0; layer < kLayers; ++layer) {
      status = aclnnSparseFlashMlaGetWorkspaceSize(
          q, caches[layer], nullptr, nullptr, nullptr, table, nullptr, cu_seqlens_q, nullptr,
          nullptr, nullptr, seqused, nullptr, nullptr, nullptr, nullptr, sinks, metadata, kScale, 1,
          4, 0, 127, 0, tnd, paged, 1, false, outs[layer], nullptr, &bytes, &executor);
      Launch(&session, aclnnSparseFlashMla, status, bytes, executor);
    }
    Check(aclrtSynchronizeStream(session.stream), "aclrtSynchronizeStream");
  }

  int wrong = 0;
  for (int layer = 0; layer < kLayers; ++layer) wrong += CountWrong(outs[layer], layer, lengths);
  printf("%d steps of %d layers, wrong numbers: %d\n", kSteps, kLayers, wrong);
  outs.insert(outs.end(), {q, sinks, cu_seqlens_q, table, seqused, metadata});
  for (aclTensor* operand : caches) DestroyOperand(operand);
  for (aclTensor* operand : outs) DestroyOperand(operand);
  CloseSession(&session);
  return wrong != 0;
}
