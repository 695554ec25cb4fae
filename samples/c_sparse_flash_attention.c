// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention V1 and V2 from plain C, on the input of the published example: every number
// is 1, one row of 16 heads lists all 2048 tokens, the scale is 1/24. So every score is 576 / 24,
// all 2048 weights are equal and the output is 1; V2's sinks of 0 weigh exp(-24), nearly nothing.
#include <math.h>

#include "aclnnop/aclnn_sparse_flash_attention.h"
#include "aclnnop/aclnn_sparse_flash_attention_v2.h"
#include "sample_util.h"

enum { kHeads = 16, kTokens = 2048, kLatent = 512, kRope = 64 };
static char tnd[] = "TND";
static aclFloat16 ones[kTokens * kLatent], out[kHeads * kLatent];
static int32_t indices[kTokens];
static const aclFloat16 blank[kHeads * kLatent];
static const float zeros[kHeads];
static float largest[kHeads], total[kHeads];

typedef struct {
  aclTensor *query, *key, *indices, *rows, *tokens, *query_rope, *key_rope, *sinks;
  aclTensor *out, *largest, *total;
} Operands;

static Operands MakeOperands(void) {
  const int64_t q_dims[] = {1, kHeads, kLatent}, key_dims[] = {kTokens, 1, kLatent};
  const int64_t q_rope_dims[] = {1, kHeads, kRope}, key_rope_dims[] = {kTokens, 1, kRope};
  const int64_t list_dims[] = {1, 1, kTokens}, one_dim[] = {1}, heads_dims[] = {kHeads};
  const int64_t statistic_dims[] = {1, 1, kHeads};
  const int32_t rows = 1, tokens = kTokens;  // running totals, without a leading 0
  Operands made;
  made.query = MakeOperand(ACL_FLOAT16, 3, q_dims, ones);
  made.key = MakeOperand(ACL_FLOAT16, 3, key_dims, ones);
  made.indices = MakeOperand(ACL_INT32, 3, list_dims, indices);
  made.rows = MakeOperand(ACL_INT32, 1, one_dim, &rows);
  made.tokens = MakeOperand(ACL_INT32, 1, one_dim, &tokens);
  made.query_rope = MakeOperand(ACL_FLOAT16, 3, q_rope_dims, ones);
  made.key_rope = MakeOperand(ACL_FLOAT16, 3, key_rope_dims, ones);
  made.sinks = MakeOperand(ACL_FLOAT, 1, heads_dims, zeros);
  made.out = MakeOperand(ACL_FLOAT16, 3, q_dims, NULL);
  made.largest = MakeOperand(ACL_FLOAT, 3, statistic_dims, NULL);
  made.total = MakeOperand(ACL_FLOAT, 3, statistic_dims, NULL);
  return made;
}

static void DestroyOperands(const Operands* made) {
  aclTensor* all[] = {made->query,  made->key,        made->indices,  made->rows,
                      made->tokens, made->query_rope, made->key_rope, made->sinks,
                      made->out,    made->largest,    made->total};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) DestroyOperand(all[i]);
}

// Waits for the call, prints its numbers and counts those that are wrong; then clears the outputs.
static int CountWrong(Session* session, const char* version, const Operands* made, double sum) {
  Check(aclrtSynchronizeStream(session->stream), "aclrtSynchronizeStream");
  Download(made->out, out, sizeof out);
  Download(made->largest, largest, sizeof largest);
  Download(made->total, total, sizeof total);
  int wrong = 0;
  for (int i = 0; i < kHeads * kLatent; ++i) wrong += aclFloat16ToFloat(out[i]) != 1.0f;
  for (int i = 0; i < kHeads; ++i) {
    wrong += !(fabs(largest[i] - 24.0) <= 1e-5) + !(fabs(total[i] - sum) <= 1e-3);
  }
  printf("%s: output %.4f, max %.4f, sum %.4f, wrong numbers: %d\n", version,
         aclFloat16ToFloat(out[0]), largest[0], total[0], wrong);
  Upload(made->out, blank, sizeof blank);
  Upload(made->largest, zeros, sizeof zeros);
  Upload(made->total, zeros, sizeof zeros);
  return wrong;
}

int main(void) {
  for (int i = 0; i < kTokens * kLatent; ++i) ones[i] = aclFloatToFloat16(1.0f);
  for (int i = 0; i < kTokens; ++i) indices[i] = i;
  Session session = OpenSession();
  const Operands made = MakeOperands();
  uint64_t bytes = 0;
  aclOpExecutor* executor = NULL;

  // The value is the key.
  int status = aclnnSparseFlashAttentionGetWorkspaceSize(
      made.query, made.key, made.key, made.indices, NULL, made.rows, made.tokens, made.query_rope,
      made.key_rope, 1.0 / 24, 1, tnd, tnd, 0, INT64_MAX, INT64_MAX, 2, true, made.out,
      made.largest, made.total, &bytes, &executor);
  Launch(&session, aclnnSparseFlashAttention, status, bytes, executor);
  int wrong = CountWrong(&session, "V1", &made, kTokens);

  status = aclnnSparseFlashAttentionV2GetWorkspaceSize(
      made.query, made.key, made.key, made.indices, NULL, made.rows, made.tokens, made.query_rope,
      made.key_rope, made.sinks, 1.0 / 24, 1, tnd, tnd, 0, INT64_MAX, INT64_MAX, 2, true, made.out,
      made.largest, made.total, &bytes, &executor);
  Launch(&session, aclnnSparseFlashAttentionV2, status, bytes, executor);
  wrong += CountWrong(&session, "V2", &made, kTokens + exp(-24.0));

  DestroyOperands(&made);
  CloseSession(&session);
  return wrong != 0;
}
