// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/common/length_tensors.h"

#include <algorithm>

#include "base/format.h"

namespace sfmla {
namespace {

Status BadValue(int32_t failure_code, const char* tensor, int64_t position, int64_t value,
                const std::string& allowed) {
  return Status(failure_code, Str(tensor, "[", position, "]: ", value, ", must be ", allowed));
}

Status CheckPrefixSums(const char* tensor, const int32_t* values, int64_t batch, int64_t extent,
                       int32_t failure_code) {
  if (values == nullptr) return Status::Ok();
  if (values[0] != 0) return BadValue(failure_code, tensor, 0, values[0], "0");
  for (int64_t i = 1; i <= batch; ++i) {
    if (values[i] < values[i - 1]) {
      return BadValue(failure_code, tensor, i, values[i],
                      Str("at least the value before it, ", values[i - 1]));
    }
    if (values[i] > extent) {
      return BadValue(failure_code, tensor, i, values[i],
                      Str("at most ", extent, ", the rows of the packed tensor"));
    }
  }
  return Status::Ok();
}

Status CheckUsed(const char* tensor, const int32_t* values, const int32_t* prefix_sums,
                 int64_t batch, int64_t extent, int32_t failure_code) {
  if (values == nullptr) return Status::Ok();
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t bound = prefix_sums != nullptr ? prefix_sums[i + 1] - prefix_sums[i] : extent;
    if (values[i] < 0 || values[i] > bound) {
      return BadValue(failure_code, tensor, i, values[i],
                      Str("in [0, ", bound, "], the tokens the request has room for"));
    }
  }
  return Status::Ok();
}

// The length of one side of a request, from the most specific source.
int64_t UsedLength(const int32_t* used, const int32_t* prefix_sums, int64_t request,
                   int64_t extent) {
  if (used != nullptr) return used[request];
  if (prefix_sums != nullptr) return prefix_sums[request + 1] - prefix_sums[request];
  return extent;
}

}  // namespace

RequestLengths LengthTensors::At(int64_t request) const {
  RequestLengths out;
  out.query = UsedLength(seqused_q, cu_seqlens_q, request, query_extent);
  if (has_ori) out.ori = UsedLength(seqused_ori_kv, cu_seqlens_ori_kv, request, ori_extent);
  if (has_cmp) {
    const bool derived = layout_kv == Layout::kPaged && seqused_cmp_kv == nullptr;
    out.cmp = derived ? std::min(out.ori / cmp_ratio, cmp_extent)
                      : UsedLength(seqused_cmp_kv, cu_seqlens_cmp_kv, request, cmp_extent);
    out.cmp_restored = out.cmp * cmp_ratio + (uses_residual ? cmp_residual_kv[request] : 0);
  }
  return out;
}

int64_t LengthTensors::AllottedQueryRows(int64_t request) const {
  return UsedLength(nullptr, cu_seqlens_q, request, query_extent);
}

int64_t LengthTensors::FirstQueryRow(int64_t request) const {
  return cu_seqlens_q != nullptr ? cu_seqlens_q[request] : request * query_extent;
}

int64_t LengthTensors::UsedQueryRows() const {
  if (seqused_q == nullptr) {
    return cu_seqlens_q != nullptr ? cu_seqlens_q[batch] : batch * query_extent;
  }
  int64_t rows = 0;
  for (int64_t i = 0; i < batch; ++i) rows += seqused_q[i];
  return rows;
}

Status LengthTensors::CheckValues(int32_t failure_code) const {
  SFMLA_RETURN_IF_ERROR(
      CheckPrefixSums("cu_seqlens_q", cu_seqlens_q, batch, query_extent, failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckPrefixSums("cu_seqlens_ori_kv", cu_seqlens_ori_kv, batch, ori_extent, failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckPrefixSums("cu_seqlens_cmp_kv", cu_seqlens_cmp_kv, batch, cmp_extent, failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckUsed("seqused_q", seqused_q, cu_seqlens_q, batch, query_extent, failure_code));
  SFMLA_RETURN_IF_ERROR(CheckUsed("seqused_ori_kv", seqused_ori_kv, cu_seqlens_ori_kv, batch,
                                  ori_extent, failure_code));
  SFMLA_RETURN_IF_ERROR(CheckUsed("seqused_cmp_kv", seqused_cmp_kv, cu_seqlens_cmp_kv, batch,
                                  cmp_extent, failure_code));
  if (!uses_residual) return Status::Ok();
  for (int64_t i = 0; i < batch; ++i) {
    if (cmp_residual_kv[i] < 0 || cmp_residual_kv[i] >= cmp_ratio) {
      return BadValue(failure_code, "cmp_residual_kv", i, cmp_residual_kv[i],
                      Str("in [0, ", cmp_ratio - 1, "], the remainder of cmp_ratio ", cmp_ratio));
    }
  }
  return Status::Ok();
}

}  // namespace sfmla
