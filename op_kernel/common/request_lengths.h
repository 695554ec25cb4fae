// SPDX-License-Identifier: Apache-2.0
// From the length tensors of a call to per-request lengths: the one definition, for the host, which
// reads them through pointers, and for kernels, which read them through the scalar unit.
#pragma once

#include <cstdint>

#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/device_macros.h"
#include "op_kernel/common/kv_range.h"
#include "op_kernel/common/scalar_math.h"

namespace sfmla {

// `Integers` stands for `const int32_t*`: it compares with nullptr (the call has no such tensor)
// and has operator[].
template <typename Integers>
struct LengthSources {
  LengthSources() = default;
  // What the rules say about lengths; extents and tensors are still to be filled in.
  SFMLA_DEVICE LengthSources(const AttentionRules& rules, int64_t batch_in)
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

  // Prefix sums begin with a 0, (B + 1) values; else they are the (B) ends of the requests.
  bool sums_begin_with_zero = true;
  // There is a compressed row for every complete group of original tokens, and no tensor says so.
  bool cmp_follows_ori = false;
  // Rows that come before the first token have no keys, not even those that a right window reaches.
  bool rows_need_a_token = false;

  Integers cu_seqlens_q{};
  Integers cu_seqlens_ori_kv{};
  Integers cu_seqlens_cmp_kv{};
  Integers seqused_q{};
  Integers seqused_ori_kv{};
  Integers seqused_cmp_kv{};
  Integers cmp_residual_kv{};

  // Only for tensors whose values have been checked.
  SFMLA_DEVICE RequestLengths At(int64_t request) const {
    RequestLengths out;
    out.query = UsedLength(seqused_q, cu_seqlens_q, request, query_extent);
    if (has_ori) out.ori = UsedLength(seqused_ori_kv, cu_seqlens_ori_kv, request, ori_extent);
    if (rows_need_a_token) out.first_row = GreaterOf(out.query - out.ori, 0);
    if (!has_cmp) return out;
    if (cmp_follows_ori) {
      const int64_t room = Allotted(cu_seqlens_cmp_kv, request, cmp_extent);
      out.cmp = LesserOf(out.ori / cmp_ratio, room);
      out.cmp_restored = out.ori;
      return out;
    }
    const bool derived = layout_kv == Layout::kPaged && !(seqused_cmp_kv != nullptr);
    out.cmp = derived ? LesserOf(out.ori / cmp_ratio, cmp_extent)
                      : UsedLength(seqused_cmp_kv, cu_seqlens_cmp_kv, request, cmp_extent);
    out.cmp_restored = out.cmp * cmp_ratio + (uses_residual ? cmp_residual_kv[request] : 0);
    return out;
  }

  // Query rows the tensors set aside for the request, used or not.
  SFMLA_DEVICE int64_t AllottedQueryRows(int64_t request) const {
    return Allotted(cu_seqlens_q, request, query_extent);
  }
  // Index of the request's first query row among all rows of q.
  SFMLA_DEVICE int64_t FirstQueryRow(int64_t request) const {
    return cu_seqlens_q != nullptr ? Begin(cu_seqlens_q, request) : request * query_extent;
  }
  // The same for the tokens of packed caches; 0 in the other layouts.
  SFMLA_DEVICE int64_t FirstOriToken(int64_t request) const {
    return cu_seqlens_ori_kv != nullptr ? Begin(cu_seqlens_ori_kv, request) : 0;
  }
  SFMLA_DEVICE int64_t FirstCmpToken(int64_t request) const {
    return cu_seqlens_cmp_kv != nullptr ? Begin(cu_seqlens_cmp_kv, request) : 0;
  }

 protected:
  // Where request `request` begins according to prefix sums; request B begins at the end.
  SFMLA_DEVICE int64_t Begin(const Integers& sums, int64_t request) const {
    if (sums_begin_with_zero) return sums[request];
    return request == 0 ? 0 : sums[request - 1];
  }
  // What is set aside for one side of a request.
  SFMLA_DEVICE int64_t Allotted(const Integers& sums, int64_t request, int64_t extent) const {
    return sums != nullptr ? Begin(sums, request + 1) - Begin(sums, request) : extent;
  }
  // The length of one side of a request, from the most specific source.
  SFMLA_DEVICE int64_t UsedLength(const Integers& used, const Integers& sums, int64_t request,
                                  int64_t extent) const {
    return used != nullptr ? used[request] : Allotted(sums, request, extent);
  }
};

}  // namespace sfmla
