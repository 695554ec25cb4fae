// SPDX-License-Identifier: Apache-2.0
// The length tensors of a call, read into per-request lengths; and the checks of their values.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/kv_range.h"

namespace sfmla {

// Extents that stand in where no length tensor says more, and bound those that do. A planner that
// does not know one passes kUnknownExtent.
inline constexpr int64_t kUnknownExtent = INT32_MAX;

// What an operator calls its length tensors.
struct LengthNames {
  const char* cu_seqlens_q = "cu_seqlens_q";
  const char* cu_seqlens_ori_kv = "cu_seqlens_ori_kv";
  const char* seqused_q = "seqused_q";
  const char* seqused_ori_kv = "seqused_ori_kv";
};

struct LengthTensors {
  LengthTensors() = default;
  // What the rules say about lengths; extents and tensors are still to be filled in.
  LengthTensors(const AttentionRules& rules, int64_t batch_in)
      : layout_kv(rules.layout_kv),
        has_ori(rules.has_ori),
        has_cmp(rules.has_cmp),
        uses_residual(rules.uses_residual()),
        batch(batch_in),
        cmp_ratio(rules.cmp_ratio) {}

  Layout layout_kv = Layout::kBsnd;
  bool has_ori = true;
  bool has_cmp = false;
  bool uses_residual = false;
  int64_t batch = 0;
  int64_t cmp_ratio = 1;
  int64_t query_extent = 0;  // S1 (BSND) or T1 (TND)
  int64_t ori_extent = 0;    // S2 (BSND), T2 (TND), or table columns x block size (paged)
  int64_t cmp_extent = 0;    // the same for the compressed cache

  LengthNames names;
  // Prefix sums begin with a 0, (B + 1) values; else they are the (B) ends of the requests.
  bool sums_begin_with_zero = true;
  // There is a compressed row for every complete group of original tokens, and no tensor says so.
  bool cmp_follows_ori = false;

  const int32_t* cu_seqlens_q = nullptr;
  const int32_t* cu_seqlens_ori_kv = nullptr;
  const int32_t* cu_seqlens_cmp_kv = nullptr;
  const int32_t* seqused_q = nullptr;
  const int32_t* seqused_ori_kv = nullptr;
  const int32_t* seqused_cmp_kv = nullptr;
  const int32_t* cmp_residual_kv = nullptr;

  // Only after CheckValues succeeded.
  RequestLengths At(int64_t request) const;
  // Query rows the tensors set aside for the request, used or not.
  int64_t AllottedQueryRows(int64_t request) const;
  // Index of the request's first query row among all rows of q.
  int64_t FirstQueryRow(int64_t request) const;
  // The same for the tokens of packed caches; 0 in the other layouts.
  int64_t FirstOriToken(int64_t request) const;
  int64_t FirstCmpToken(int64_t request) const;
  int64_t UsedQueryRows() const;  // of all requests

  // Prefix sums start at 0, never fall and stay within the packed extent; used lengths lie between
  // 0 and what is set aside; residuals lie in [0, cmp_ratio). The sentence names tensor, position
  // and value.
  Status CheckValues(int32_t failure_code) const;

 private:
  // Where request `request` begins according to prefix sums; request B begins at the end.
  int64_t Begin(const int32_t* sums, int64_t request) const {
    if (sums_begin_with_zero) return sums[request];
    return request == 0 ? 0 : sums[request - 1];
  }
  // The length of one side of a request, from the most specific source.
  int64_t UsedLength(const int32_t* used, const int32_t* sums, int64_t request,
                     int64_t extent) const;
  Status CheckSums(const char* tensor, const int32_t* sums, int64_t extent,
                   int32_t failure_code) const;
  Status CheckUsed(const char* tensor, const int32_t* used, const int32_t* sums, int64_t extent,
                   int32_t failure_code) const;
};

}  // namespace sfmla
