// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/attention_checks.h"

#include <cmath>

#include "base/format.h"

namespace sfmla {
namespace {

constexpr int64_t kMaxPageTokens = 1024;

Status CheckCacheStrides(const OperandArg& cache, int64_t width) {
  const TensorDesc& desc = cache.desc;
  const auto rank = static_cast<size_t>(desc.rank);
  if (desc.strides[rank - 1] != 1) {
    return Refuse(Str(cache.name, ": stride of axis ", rank - 1, " (D) is ", desc.strides[rank - 1],
                      ", must be 1"));
  }
  if (desc.dims[0] > 1 && desc.strides[0] < 0) {
    return Refuse(
        Str(cache.name, ": stride of axis 0 is ", desc.strides[0], ", must be at least 0"));
  }
  if (rank == 4 && desc.dims[1] > 1 && desc.strides[1] < width) {
    return Refuse(Str(cache.name, ": stride of axis 1 is ", desc.strides[1],
                      " elements, must be at least ", width));
  }
  return Status::Ok();
}

Status SetPages(const OperandArg& cache, int64_t page_tokens, int64_t table_columns,
                CacheGeometry* geometry) {
  if (page_tokens < 1 || page_tokens > kMaxPageTokens) {
    return Refuse(Str(cache.name, ": axis 1 (block size) is ", page_tokens, ", must be in [1, ",
                      kMaxPageTokens, "]"));
  }
  geometry->page_tokens = page_tokens;
  geometry->table_columns = table_columns;
  geometry->tokens = page_tokens * table_columns;
  return Status::Ok();
}

}  // namespace

Result<float> CheckScale(const char* name, double scale) {
  const auto value = static_cast<float>(scale);
  if (std::isfinite(value)) return value;
  return Refuse(Str(name, ": ", scale, ", must be finite as a float"));
}

Result<int64_t> ListWidth(const OperandArg& indices) {
  if (indices.handle == nullptr) return int64_t{0};
  const int64_t rank = indices.desc.rank;
  if (rank < 1 || rank > kMaxOperandRank) {
    return Refuse(Str(indices.name, ": rank ", rank, ", must be 3 or 4"));
  }
  const int64_t width = indices.desc.dims[static_cast<size_t>(rank - 1)];
  if (width == 0 && rank > 1) {
    return Refuse(Str(indices.name, ": last axis is 0, must be at least 1"));
  }
  return indices.absent() ? 0 : width;
}

std::initializer_list<Axis> QueryAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kS1, Axis::kN1, Axis::kD};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kT1, Axis::kN1, Axis::kD};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

std::initializer_list<Axis> StatisticsAxes(Layout layout_q) {
  static constexpr std::initializer_list<Axis> kBsnd = {Axis::kB, Axis::kN2, Axis::kS1, Axis::kG};
  static constexpr std::initializer_list<Axis> kTnd = {Axis::kN2, Axis::kT1, Axis::kG};
  return layout_q == Layout::kBsnd ? kBsnd : kTnd;
}

Status CheckQueries(OperandTable* table, int slot, const char* head_dim_reason,
                    AttentionProblem* problem) {
  const OperandArg& q = table->At(slot);
  AxisTable& axes = table->axes();
  if (q.desc.dtype != ACL_FLOAT16 && q.desc.dtype != ACL_BF16) {
    return Refuse(
        Str(q.name, ": dtype ", DataTypeName(q.desc.dtype), ", must be FLOAT16 or BFLOAT16"));
  }
  problem->is_bfloat16 = q.desc.dtype == ACL_BF16;
  axes.Fix(Axis::kD, kHeadDim, head_dim_reason);
  axes.Fix(Axis::kN2, 1, "(one key/value head)");
  SFMLA_RETURN_IF_ERROR(axes.Bind(q, QueryAxes(problem->rules.layout_q)));

  const int64_t heads = axes.Of(Axis::kN1);
  if (heads < 1 || heads > kMaxHeads) {
    return Refuse(Str(q.name, ": axis N1 is ", heads, ", must be in [1, ", kMaxHeads, "]"));
  }
  problem->rules.heads = static_cast<int32_t>(heads);
  axes.Fix(Axis::kG, heads, "(N1 / N2)");
  return Status::Ok();
}

Status CheckQuerySums(OperandTable* table, int slot, AttentionProblem* problem) {
  AxisTable& axes = table->axes();
  const OperandArg& sums = table->At(slot);
  if (problem->rules.layout_q == Layout::kBsnd) {
    if (sums.present()) return Refuse(Str(sums.name, ": given with layout_q BSND, must be absent"));
    axes.Fix(Axis::kBPlus1, axes.Of(Axis::kB) + 1, "(B + 1, B as in q)");
  } else {
    SFMLA_RETURN_IF_ERROR(table->Require(slot, "with layout_q TND"));
    table->Use(slot);
    SFMLA_RETURN_IF_ERROR(table->CheckInt32(slot, {Axis::kBPlus1}));
    axes.Fix(Axis::kB, axes.Of(Axis::kBPlus1) - 1, "(from cu_seqlens_q)");
  }
  SetQueryExtents(table, problem);
  return Status::Ok();
}

void SetQueryExtents(OperandTable* table, AttentionProblem* problem) {
  const bool packed = problem->rules.layout_q == Layout::kTnd;
  problem->batch = table->axes().Of(Axis::kB);
  problem->query_extent = table->axes().Of(packed ? Axis::kT1 : Axis::kS1);
  problem->query_rows = problem->query_extent * (packed ? 1 : problem->batch);
  if (problem->query_rows == 0 || problem->batch == 0) table->AllowEmpty();
}

Status CheckRowIntegers(OperandTable* table, int slot, Layout layout_q, Axis last) {
  if (layout_q == Layout::kTnd) return table->CheckInt32(slot, {Axis::kT1, Axis::kN2, last});
  return table->CheckInt32(slot, {Axis::kB, Axis::kS1, Axis::kN2, last});
}

Status CheckRowLengths(OperandTable* table, int slot, Layout layout_q) {
  if (layout_q == Layout::kTnd) return table->CheckInt32(slot, {Axis::kT1, Axis::kN2});
  return table->CheckInt32(slot, {Axis::kB, Axis::kS1, Axis::kN2});
}

Status CheckCache(OperandTable* table, const CacheOperand& cache, Layout layout_kv,
                  CacheGeometry* geometry) {
  const OperandArg& operand = table->At(cache.slot);
  AxisTable& axes = table->axes();
  const bool packed = layout_kv == Layout::kTnd;
  if (packed) {
    SFMLA_RETURN_IF_ERROR(axes.Bind(operand, {cache.tokens, Axis::kN2, cache.width}));
  } else {
    const Axis outer = layout_kv == Layout::kPaged ? cache.outer : Axis::kB;
    SFMLA_RETURN_IF_ERROR(axes.Bind(operand, {outer, cache.tokens, Axis::kN2, cache.width}));
  }
  SFMLA_RETURN_IF_ERROR(CheckCacheStrides(operand, axes.Of(cache.width)));

  const TensorDesc& desc = operand.desc;
  geometry->outer_extent = desc.dims[0];
  geometry->outer_stride = desc.strides[0];
  geometry->token_stride = packed ? desc.strides[0] : desc.strides[1];
  geometry->tokens = axes.Of(cache.tokens);
  if (layout_kv != Layout::kPaged) return Status::Ok();
  return SetPages(operand, axes.Of(cache.tokens), axes.Of(cache.columns), geometry);
}

Status CheckSinks(OperandTable* table, int slot) {
  SFMLA_RETURN_IF_ERROR(CheckDtype(table->At(slot), ACL_FLOAT, ""));
  return table->axes().Bind(table->At(slot), {Axis::kN1});
}

Status CheckOutput(OperandTable* table, int slot, aclDataType dtype, const char* why,
                   std::initializer_list<Axis> axes) {
  SFMLA_RETURN_IF_ERROR(CheckDtype(table->At(slot), dtype, why));
  SFMLA_RETURN_IF_ERROR(table->axes().Bind(table->At(slot), axes));
  return CheckContiguous(table->At(slot));
}

}  // namespace sfmla
