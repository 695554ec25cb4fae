// SPDX-License-Identifier: Apache-2.0
// Window attention (SWA) of 4 new rows over 200 cached tokens, from plain C: plan, then attend,
// each in two phases. Every output is checked against a double precision loop.
#include <math.h>

#include "aclnnop/aclnn_sparse_flash_mla.h"
#include "aclnnop/aclnn_sparse_flash_mla_metadata.h"
#include "sample_util.h"

enum { kRows = 4, kTokens = 200, kHeads = 8, kWidth = 512, kWindowLeft = 127 };
static const double kScale = 0.04419417382415922;  // 1 / sqrt(512)
static aclFloat16 q[kRows * kHeads * kWidth], kv[kTokens * kWidth], out[kRows * kHeads * kWidth];
static float sinks[kHeads], lse[kRows * kHeads];

static float NextNumber(void) {  // in [-1, 1), the same on every machine
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 16) / 32768.0f - 1.0f;
}

// How many of the 512 outputs and the LSE of one row and head are off by more than 0.002.
static int CountWrong(int lane) {
  const int newest = kTokens - kRows + lane / kHeads;
  double value[kWidth] = {0}, sum = exp(sinks[lane % kHeads]);
  for (int token = newest - kWindowLeft; token <= newest; ++token) {
    double key[kWidth], score = 0;
    for (int i = 0; i < kWidth; ++i) {
      key[i] = aclFloat16ToFloat(kv[token * kWidth + i]);
      score += kScale * aclFloat16ToFloat(q[lane * kWidth + i]) * key[i];
    }
    sum += exp(score);
    for (int i = 0; i < kWidth; ++i) value[i] += exp(score) * key[i];
  }
  int wrong = !(fabs(lse[lane] - log(sum)) <= 0.002);
  for (int i = 0; i < kWidth; ++i) {
    wrong += !(fabs(aclFloat16ToFloat(out[lane * kWidth + i]) - value[i] / sum) <= 0.002);
  }
  return wrong;
}

int main(void) {
  for (int i = 0; i < kRows * kHeads * kWidth; ++i) q[i] = aclFloatToFloat16(3 * NextNumber());
  for (int i = 0; i < kTokens * kWidth; ++i) kv[i] = aclFloatToFloat16(NextNumber());
  for (int i = 0; i < kHeads; ++i) sinks[i] = NextNumber();

  Session session = OpenSession();
  const int64_t q_dims[] = {1, kRows, kHeads, kWidth}, kv_dims[] = {1, kTokens, 1, kWidth};
  const int64_t lse_dims[] = {1, 1, kRows, kHeads}, sinks_dims[] = {kHeads}, plan_dims[] = {1024};
  aclTensor* q_operand = MakeOperand(ACL_FLOAT16, 4, q_dims, q);
  aclTensor* kv_operand = MakeOperand(ACL_FLOAT16, 4, kv_dims, kv);
  aclTensor* sinks_operand = MakeOperand(ACL_FLOAT, 1, sinks_dims, sinks);
  aclTensor* metadata = MakeOperand(ACL_INT32, 1, plan_dims, NULL);
  aclTensor* attn_out = MakeOperand(ACL_FLOAT16, 4, q_dims, NULL);
  aclTensor* softmax_lse = MakeOperand(ACL_FLOAT, 4, lse_dims, NULL);

  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;
  int status = aclnnSparseFlashMlaMetadataGetWorkspaceSize(
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, kHeads, 1, kWidth, 1, kRows, kTokens, 0,
      0, 0, 1, 4, 0, kWindowLeft, 0, "BSND", "BSND", true, false, metadata, &bytes, &executor);
  Launch(&session, aclnnSparseFlashMlaMetadata, status, bytes, executor);
  status = aclnnSparseFlashMlaGetWorkspaceSize(
      q_operand, kv_operand, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, sinks_operand, metadata, kScale, 1, 4, 0, kWindowLeft, 0, "BSND", "BSND", 1, true,
      attn_out, softmax_lse, &bytes, &executor);
  Launch(&session, aclnnSparseFlashMla, status, bytes, executor);
  Check(aclrtSynchronizeStream(session.stream), "aclrtSynchronizeStream");
  Download(attn_out, out, sizeof out);
  Download(softmax_lse, lse, sizeof lse);

  aclTensor* all[] = {q_operand, kv_operand, sinks_operand, metadata, attn_out, softmax_lse};
  for (int i = 0; i < 6; ++i) DestroyOperand(all[i]);
  CloseSession(&session);
  int wrong = 0;
  for (int lane = 0; lane < kRows * kHeads; ++lane) wrong += CountWrong(lane);
  printf("attn_out[0,3,7,0] %.6f, lse[0,0,3,7] %.6f, wrong numbers: %d\n",
         aclFloat16ToFloat(out[31 * kWidth]), lse[31], wrong);
  return wrong != 0;
}
