// SPDX-License-Identifier: Apache-2.0
#include "op_host/sparse_flash_attention/product_check.h"

#include "base/format.h"

namespace sfmla {
namespace {

using namespace sparse_flash_operand;

Status CheckPages(const ProductRules& product, const SparseFlashAttentionArgs& args,
                  const SparseFlashAttentionProblem& problem) {
  const SparseFlashProductRules& row = product.sparse_flash;
  const int64_t page_tokens = problem.ori.page_tokens;
  if (row.statistics_without_pages_only && args.return_softmax_lse) {
    return RefuseFor(product, "return_softmax_lse: true, must be false with layout_kv PA_BSND");
  }
  if (problem.uses[kSinks].used) {
    return RefuseFor(product, "sinks: given with layout_kv PA_BSND, must be absent");
  }
  if (page_tokens % row.page_tokens_multiple != 0) {
    return RefuseFor(product, Str("key: block size ", page_tokens, ", must be a multiple of ",
                                  row.page_tokens_multiple));
  }
  if (page_tokens % args.sparse_block_size != 0) {
    return RefuseFor(
        product, Str("key: block size ", page_tokens, ", must be a multiple of sparse_block_size ",
                     args.sparse_block_size));
  }
  return Status::Ok();
}

}  // namespace

Status CheckSparseFlashProduct(const ProductRules& product, const SparseFlashAttentionArgs& args,
                               const SparseFlashAttentionProblem& problem) {
  const SparseFlashProductRules& row = product.sparse_flash;
  if (!row.narrows) return Status::Ok();
  const int32_t heads = problem.rules.heads;
  if (product.heads_power_of_two && (heads & (heads - 1)) != 0) {
    return RefuseFor(product, Str("query heads N1: ", heads, ", must be a power of two"));
  }
  if (args.sparse_block_size > row.max_sparse_block) {
    return RefuseFor(product, Str("sparse_block_size: ", args.sparse_block_size,
                                  ", must be at most ", row.max_sparse_block));
  }
  if (!row.sinks && problem.uses[kSinks].used) {
    return RefuseFor(product, "sinks: given, must be absent");
  }
  const bool no_packed_rows = problem.rules.layout_q == Layout::kTnd && problem.query_rows == 0;
  if (row.empty_batch_refused && (problem.batch == 0 || no_packed_rows)) {
    return RefuseFor(product, "query: no requests or no packed rows, must have at least one");
  }
  if (row.empty_refused && (problem.query_rows == 0 || args.operands[kKey].absent())) {
    return RefuseFor(product, "query, key: no elements, must hold at least one row and token");
  }
  if (problem.rules.layout_kv != Layout::kPaged) return Status::Ok();
  return CheckPages(product, args, problem);
}

}  // namespace sfmla
