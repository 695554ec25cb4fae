// SPDX-License-Identifier: Apache-2.0
// One call of SparseFlashMla for emulated cores: its shape and its inputs. Keys that no row attends
// to are NaN.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/cache_geometry.h"

namespace sfmla::test {

// A request of the batch, in tokens.
struct SmlaRequest {
  int query_rows = 1;        // set aside: S1, or the difference of cu_seqlens_q
  int used_query_rows = -1;  // -1: all
  int ori_tokens = 0;
  int cmp_tokens = 0;
  int residual = 0;
};

// How index lists are made from the tokens that a row may see.
enum class ListKind : uint8_t {
  kPlain,    // some of them, then -1 if there are not enough
  kNasty,    // with repetitions, neighbours, tokens outside of the range, and early ends
  kNothing,  // -1 only
};

struct SmlaCase {
  std::string name;
  AttentionRules rules;
  bool is_bfloat16 = false;
  std::vector<SmlaRequest> requests;
  int spare_query_rows = 0;  // packed rows behind the last request
  int ori_page_tokens = 16;
  int cmp_page_tokens = 16;
  int token_padding = 0;  // elements between tokens
  int outer_padding = 0;  // elements between pages, or between requests of a batched cache
  bool has_seqused_q = false;
  bool has_topk_lengths = false;
  ListKind lists = ListKind::kPlain;
  bool has_sinks = true;
  std::vector<float> sinks;  // empty: random
  bool returns_lse = true;
  double score_spread = 1.0;  // standard deviation of scores
  uint64_t seed = 1;
};

// A query row of a request.
struct SmlaRow {
  int request = 0;
  int row = 0;
  int64_t global_row = 0;
};

// Inputs as the kernel gets them, 16-bit values as bits; empty where the call has none.
struct SmlaInputs {
  std::vector<uint16_t> q;
  std::vector<uint16_t> ori_kv, cmp_kv;
  std::vector<int32_t> ori_indices, cmp_indices;
  std::vector<int32_t> ori_block_table, cmp_block_table;
  std::vector<int32_t> cu_seqlens_q, cu_seqlens_ori_kv, cu_seqlens_cmp_kv;
  std::vector<int32_t> seqused_q, seqused_ori_kv, seqused_cmp_kv;
  std::vector<int32_t> cmp_residual_kv;
  std::vector<int32_t> ori_topk_length, cmp_topk_length;
  std::vector<float> sinks;
};

class SmlaCall {
 public:
  explicit SmlaCall(const SmlaCase& call);

  const SmlaCase& call() const { return call_; }
  const SmlaInputs& inputs() const { return inputs_; }
  SmlaInputs& inputs() { return inputs_; }

  int64_t query_rows() const;    // of q
  int64_t query_extent() const;  // S1 or T1
  int64_t heads() const { return call_.rules.heads; }
  CacheGeometry Geometry(bool compressed) const;
  double Widen(uint16_t bits) const;
  uint16_t Round(double value) const;

  std::vector<SmlaRow> UsedRows() const;
  // Tokens that a row attends to, in order, by the definition of the operator.
  std::vector<int> Attended(const SmlaRow& row, bool compressed) const;
  // Where a token of a row's request starts in its pool.
  int64_t TokenOffset(int request, bool compressed, int token) const;

 private:
  std::pair<int, int> VisibleTokens(const SmlaRow& row, bool compressed) const;
  int Tokens(int request, bool compressed) const;
  int MostTokens(bool compressed) const;
  int UsedQueryRows(int request) const;
  int64_t FirstQueryRow(int request) const;

  void MakeLengths();
  void MakeTable(bool compressed);
  void MakeLists(bool compressed);
  std::vector<int32_t> MakeList(std::pair<int, int> visible, int topk);
  void MakePool(bool compressed);
  void MakeQueriesAndSinks();
  double Normal();
  int Below(int bound);

  const SmlaCase call_;
  SmlaInputs inputs_;
  uint64_t random_;
};

}  // namespace sfmla::test
