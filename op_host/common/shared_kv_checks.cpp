// SPDX-License-Identifier: Apache-2.0
#include "op_host/common/shared_kv_checks.h"

#include "base/format.h"
#include "op_host/common/attention_checks.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla {
namespace {

constexpr const char* kHeadDimReason =
    "(448 without and 64 with rotary embedding in one vector that is key and value)";

void UseCache(OperandTable* table, const SharedKvCache& cache, Layout layout_kv) {
  table->Use(cache.kv, true);
  if (layout_kv == Layout::kPaged) table->Use(cache.block_table);
  if (layout_kv == Layout::kTnd) table->Use(cache.prefix_sums);
}

Status CheckSharedKvCache(OperandTable* table, int q, int prefix_sums, const CacheOperand& cache,
                          Layout layout_kv, CacheGeometry* geometry) {
  SFMLA_RETURN_IF_ERROR(table->CheckInt32(prefix_sums, {Axis::kBPlus1}));
  SFMLA_RETURN_IF_ERROR(table->CheckInt32(cache.block_table_slot, {Axis::kB, cache.columns}));
  SFMLA_RETURN_IF_ERROR(CheckDtype(table->At(cache.slot), table->At(q).desc.dtype, " as q"));
  return CheckCache(table, cache, layout_kv, geometry);
}

}  // namespace

Result<int64_t> CompressedListWidth(const OperandTable& table, const SharedKvSlots& slots,
                                    bool has_cmp) {
  Result<int64_t> width = ListWidth(table.At(slots.cmp_sparse_indices));
  if (width.ok() && width.value() > 0 && !has_cmp) {
    return Refuse("cmp_sparse_indices: given without cmp_kv, must come with it");
  }
  return width;
}

Status CheckSharedKvAttributes(const SharedKvArgs& args, const AttentionParts& parts,
                               const LayoutNames& names, AttentionProblem* problem) {
  const Result<float> scale = CheckScale("softmax_scale", args.softmax_scale);
  if (!scale.ok()) return scale.status();
  const Result<AttentionRules> rules = CheckAttributes(args.attributes, parts, names);
  if (!rules.ok()) return rules.status();
  problem->rules = rules.value();
  problem->softmax_scale = scale.value();
  problem->return_softmax_lse = args.return_softmax_lse;
  return Status::Ok();
}

Status CheckSharedKvQuery(OperandTable* table, const SharedKvSlots& slots,
                          AttentionProblem* problem) {
  table->axes().Fix(Axis::kMetadataWords, kMetadataWords, slots.metadata_words);
  SFMLA_RETURN_IF_ERROR(CheckQueries(table, slots.q, kHeadDimReason, problem));
  SFMLA_RETURN_IF_ERROR(CheckQuerySums(table, slots.cu_seqlens_q, problem));
  if (table->At(slots.ori.kv).present() || problem->query_rows == 0) return Status::Ok();
  return Refuse("ori_kv: zero elements, must hold at least one token");
}

Status RequireCacheIndex(const OperandTable& table, const SharedKvCache& cache, Layout layout_kv) {
  if (layout_kv == Layout::kPaged) return table.Require(cache.block_table, cache.when_paged);
  if (layout_kv == Layout::kTnd) return table.Require(cache.prefix_sums, cache.when_packed);
  return Status::Ok();
}

void UseSharedKvTensors(OperandTable* table, const SharedKvSlots& slots,
                        const AttentionProblem& problem) {
  const AttentionRules& rules = problem.rules;
  for (const int slot : {slots.q, slots.sinks}) table->Use(slot);
  table->UseAlways(slots.metadata);
  UseCache(table, slots.ori, rules.layout_kv);
  if (rules.has_cmp) {
    UseCache(table, slots.cmp, rules.layout_kv);
    table->Use(slots.cmp_sparse_indices);
  }
  table->UseOutput(slots.attn_out, true);
  table->UseOutput(slots.softmax_lse, problem.return_softmax_lse);
}

Status CheckSharedKvTensors(OperandTable* table, const SharedKvSlots& slots,
                            std::initializer_list<Axis> lse_axes, AttentionProblem* problem) {
  const AttentionRules& rules = problem->rules;
  SFMLA_RETURN_IF_ERROR(table->CheckInt32(slots.metadata, {Axis::kMetadataWords}));
  SFMLA_RETURN_IF_ERROR(
      CheckRowIntegers(table, slots.cmp_sparse_indices, rules.layout_q, Axis::kK2));
  const CacheOperand ori = {slots.ori.kv, slots.ori.block_table};
  SFMLA_RETURN_IF_ERROR(CheckSharedKvCache(table, slots.q, slots.ori.prefix_sums, ori,
                                           rules.layout_kv, &problem->ori));
  if (rules.has_cmp) {
    const CacheOperand cmp = {slots.cmp.kv, slots.cmp.block_table, Axis::kCmpOuter,
                              Axis::kCmpTokens, Axis::kCmpColumns};
    SFMLA_RETURN_IF_ERROR(CheckSharedKvCache(table, slots.q, slots.cmp.prefix_sums, cmp,
                                             rules.layout_kv, &problem->cmp));
  }
  SFMLA_RETURN_IF_ERROR(CheckSinks(table, slots.sinks));
  SFMLA_RETURN_IF_ERROR(CheckOutput(table, slots.attn_out, table->At(slots.q).desc.dtype, " as q",
                                    QueryAxes(rules.layout_q)));
  if (!problem->return_softmax_lse) return Status::Ok();
  return CheckOutput(table, slots.softmax_lse, ACL_FLOAT, "", lse_axes);
}

}  // namespace sfmla
