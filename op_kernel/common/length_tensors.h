// SPDX-License-Identifier: Apache-2.0
// The length tensors of a call, read into per-request lengths; and the checks of their values.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "op_kernel/common/attention_call.h"
#include "op_kernel/common/request_lengths.h"

namespace sfmla {

// Extents that stand in where no length tensor says more, and bound those that do. A planner that
// does not know one passes kUnknownExtent.
inline constexpr int64_t kUnknownExtent = INT32_MAX;

// What an operator calls its length tensors, and the layout that needs them most.
struct LengthNames {
  const char* cu_seqlens_q = "cu_seqlens_q";
  const char* cu_seqlens_ori_kv = "cu_seqlens_ori_kv";
  const char* seqused_q = "seqused_q";
  const char* seqused_ori_kv = "seqused_ori_kv";
  const char* paged_layout = kLayoutNames[static_cast<int>(Layout::kPaged)];
};

struct LengthTensors : LengthSources<const int32_t*> {
  using LengthSources::LengthSources;

  LengthNames names;

  int64_t UsedQueryRows() const;  // of all requests

  // Prefix sums start at 0, never fall and stay within the packed extent; used lengths lie between
  // 0 and what is set aside; residuals lie in [0, cmp_ratio). The sentence names tensor, position
  // and value.
  Status CheckValues(int32_t failure_code) const;

 private:
  // `unit`: what the tensor counts, rows or tokens.
  Status CheckSums(const char* tensor, const int32_t* sums, int64_t extent, const char* unit,
                   int32_t failure_code) const;
  Status CheckUsed(const char* tensor, const int32_t* used, const int32_t* sums, int64_t extent,
                   const char* unit, int32_t failure_code) const;
};

}  // namespace sfmla
