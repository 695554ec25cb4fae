// SPDX-License-Identifier: Apache-2.0
#include "op_kernel/common/length_tensors.h"

#include "base/format.h"

namespace sfmla {
namespace {

Status BadValue(int32_t failure_code, const char* tensor, int64_t position, int64_t value,
                const std::string& allowed) {
  return Status(failure_code, Str(tensor, "[", position, "]: ", value, ", must be ", allowed));
}

}  // namespace

Status LengthTensors::CheckSums(const char* tensor, const int32_t* sums, int64_t extent,
                                const char* unit, int32_t failure_code) const {
  if (sums == nullptr) return Status::Ok();
  if (sums_begin_with_zero && sums[0] != 0) return BadValue(failure_code, tensor, 0, sums[0], "0");
  for (int64_t request = 0; request < batch; ++request) {
    const int64_t position = request + (sums_begin_with_zero ? 1 : 0);
    const int64_t begin = Begin(sums, request);
    if (sums[position] < begin) {
      return BadValue(failure_code, tensor, position, sums[position],
                      Str("at least ", position == 0 ? "" : "the value before it, ", begin));
    }
    if (sums[position] > extent) {
      return BadValue(failure_code, tensor, position, sums[position],
                      Str("at most ", extent, ", the ", unit, " of the packed tensor"));
    }
  }
  return Status::Ok();
}

Status LengthTensors::CheckUsed(const char* tensor, const int32_t* used, const int32_t* sums,
                                int64_t extent, const char* unit, int32_t failure_code) const {
  if (used == nullptr) return Status::Ok();
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t bound = Allotted(sums, i, extent);
    if (used[i] < 0 || used[i] > bound) {
      return BadValue(failure_code, tensor, i, used[i],
                      Str("in [0, ", bound, "], the ", unit, " the request has room for"));
    }
  }
  return Status::Ok();
}

int64_t LengthTensors::UsedQueryRows() const {
  if (seqused_q == nullptr) return FirstQueryRow(batch);
  int64_t rows = 0;
  for (int64_t i = 0; i < batch; ++i) rows += seqused_q[i];
  return rows;
}

Status LengthTensors::CheckValues(int32_t failure_code) const {
  SFMLA_RETURN_IF_ERROR(
      CheckSums(names.cu_seqlens_q, cu_seqlens_q, query_extent, "rows", failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckSums(names.cu_seqlens_ori_kv, cu_seqlens_ori_kv, ori_extent, "tokens", failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckSums("cu_seqlens_cmp_kv", cu_seqlens_cmp_kv, cmp_extent, "tokens", failure_code));
  SFMLA_RETURN_IF_ERROR(
      CheckUsed(names.seqused_q, seqused_q, cu_seqlens_q, query_extent, "rows", failure_code));
  SFMLA_RETURN_IF_ERROR(CheckUsed(names.seqused_ori_kv, seqused_ori_kv, cu_seqlens_ori_kv,
                                  ori_extent, "tokens", failure_code));
  SFMLA_RETURN_IF_ERROR(CheckUsed("seqused_cmp_kv", seqused_cmp_kv, cu_seqlens_cmp_kv, cmp_extent,
                                  "tokens", failure_code));
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
