// SPDX-License-Identifier: Apache-2.0
// The tensors of an attention call in global memory, as a kernel addresses them. Extents end where
// the tensor ends, so that an address outside of it is a fault.
#pragma once

#include "kernel_operator.h"
#include "op_kernel/common/device_tiling.h"
#include "op_kernel/common/request_lengths.h"
#include "op_kernel/common/schedule_records.h"

namespace sfmla::dav_2201 {

// int32 values that the scalar unit reads; an input, so that its cache is never stale.
class GmIntegers {
 public:
  __aicore__ inline GmIntegers() {}
  __aicore__ inline GmIntegers(GM_ADDR address, int64_t count) : given_(address != nullptr) {
    values_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(address),
                            static_cast<uint64_t>(count));
  }

  __aicore__ inline bool operator!=(decltype(nullptr)) const { return given_; }
  __aicore__ inline int64_t operator[](int64_t index) const {
    return values_.GetValue(static_cast<uint64_t>(index));
  }

 private:
  AscendC::GlobalTensor<int32_t> values_;
  bool given_ = false;
};

using KernelLengths = LengthSources<GmIntegers>;

// Addresses of the operands, nullptr where the call has none.
struct KernelOperandAddresses {
  GM_ADDR q;
  GM_ADDR ori_kv;
  GM_ADDR cmp_kv;
  GM_ADDR ori_indices;
  GM_ADDR cmp_indices;
  GM_ADDR ori_block_table;
  GM_ADDR cmp_block_table;
  GM_ADDR cu_seqlens_q;
  GM_ADDR cu_seqlens_ori_kv;
  GM_ADDR cu_seqlens_cmp_kv;
  GM_ADDR seqused_q;
  GM_ADDR seqused_ori_kv;
  GM_ADDR seqused_cmp_kv;
  GM_ADDR cmp_residual_kv;
  GM_ADDR ori_topk_length;
  GM_ADDR cmp_topk_length;
  GM_ADDR sinks;
  GM_ADDR metadata;
  GM_ADDR out;
  GM_ADDR lse;
  GM_ADDR workspace;
};

// One cache: pool, how to find a token in it, which tokens a list picks.
template <typename T>
struct KernelCache {
  bool is_compressed = false;
  AscendC::GlobalTensor<T> pool;
  CacheGeometry geometry;
  GmIntegers block_table;
  GmIntegers indices;      // (query rows, top-k)
  GmIntegers topk_length;  // (query rows)
};

template <typename T>
struct KernelTensors {
  AscendC::GlobalTensor<T> q;
  AscendC::GlobalTensor<T> out;
  AscendC::GlobalTensor<float> lse;
  AscendC::GlobalTensor<float> sinks;
  bool has_sinks = false;
  KernelCache<T> ori;
  KernelCache<T> cmp;
  GmIntegers metadata;
  KernelLengths lengths;
  // Of this group.
  AscendC::GlobalTensor<float> scores;
  AscendC::GlobalTensor<T> probabilities;
  AscendC::GlobalTensor<float> values;
  AscendC::GlobalTensor<T> keys;
  AscendC::GlobalTensor<float> totals;
  // Of all groups.
  AscendC::GlobalTensor<float> partials;
};

// Elements from the first to behind the last that a cache's geometry can name.
__aicore__ inline int64_t PoolElements(const CacheGeometry& geometry, Layout layout) {
  const int64_t rows = layout == Layout::kPaged ? geometry.page_tokens : geometry.tokens;
  const int64_t outer = layout == Layout::kTnd ? 1 : geometry.outer_extent;
  if (rows == 0 || outer == 0) return 0;
  return (outer - 1) * geometry.outer_stride + (rows - 1) * geometry.token_stride + kHeadDim;
}

template <typename E>
__aicore__ inline void SetTensor(AscendC::GlobalTensor<E>* tensor, GM_ADDR address,
                                 int64_t elements) {
  tensor->SetGlobalBuffer(reinterpret_cast<__gm__ E*>(address), static_cast<uint64_t>(elements));
}

template <typename T>
__aicore__ inline void SetCache(const AttentionTiling& call, const CacheGeometry& geometry,
                                GM_ADDR pool, GM_ADDR block_table, KernelCache<T>* cache) {
  cache->geometry = geometry;
  SetTensor(&cache->pool, pool, PoolElements(geometry, call.rules.layout_kv));
  cache->block_table = GmIntegers(block_table, call.batch * geometry.table_columns);
}

// The slices of the workspace that belong to one group.
template <typename T>
__aicore__ inline void SetGroupSlices(const DeviceWorkspace& workspace, int64_t heads,
                                      int64_t group, GM_ADDR base, KernelTensors<T>* tensors) {
  const int64_t scores = kScoreSlots * ScoreSlotBytes(heads);
  SetTensor(&tensors->scores, base + workspace.scores + group * scores,
            scores / static_cast<int64_t>(sizeof(float)));
  const int64_t probabilities = kProbabilitySlots * ProbabilitySlotBytes(heads);
  SetTensor(&tensors->probabilities, base + workspace.probabilities + group * probabilities,
            probabilities / static_cast<int64_t>(sizeof(T)));
  const int64_t values = kValueSlots * ValueSlotBytes(heads);
  SetTensor(&tensors->values, base + workspace.values + group * values,
            values / static_cast<int64_t>(sizeof(float)));
  const int64_t keys = kKeySlots * KeySlotBytes();
  SetTensor(&tensors->keys, base + workspace.keys + group * keys,
            keys / static_cast<int64_t>(sizeof(T)));
  SetTensor(&tensors->totals, base + workspace.totals + group * ValueSlotBytes(heads),
            heads * kHeadDim);
  SetTensor(&tensors->partials, base + workspace.partials,
            workspace.split_slots * SplitSlotFloats(heads));
}

__aicore__ inline KernelLengths LengthsOf(const AttentionTiling& call,
                                          const KernelOperandAddresses& at) {
  KernelLengths out(call.rules, call.batch);
  out.query_extent = call.query_extent;
  out.ori_extent = call.ori.tokens;
  out.cmp_extent = call.cmp.tokens;
  out.cu_seqlens_q = GmIntegers(at.cu_seqlens_q, call.batch + 1);
  out.cu_seqlens_ori_kv = GmIntegers(at.cu_seqlens_ori_kv, call.batch + 1);
  out.cu_seqlens_cmp_kv = GmIntegers(at.cu_seqlens_cmp_kv, call.batch + 1);
  out.seqused_q = GmIntegers(at.seqused_q, call.batch);
  out.seqused_ori_kv = GmIntegers(at.seqused_ori_kv, call.batch);
  out.seqused_cmp_kv = GmIntegers(at.seqused_cmp_kv, call.batch);
  out.cmp_residual_kv = GmIntegers(at.cmp_residual_kv, call.batch);
  return out;
}

template <typename T>
__aicore__ inline void SetTensors(const AttentionDeviceTiling& tiling, int64_t group,
                                  const KernelOperandAddresses& at, KernelTensors<T>* tensors) {
  const AttentionTiling& call = tiling.call;
  const int64_t rows = call.query_rows;
  const int64_t heads = call.rules.heads;
  SetTensor(&tensors->q, at.q, rows * heads * kHeadDim);
  SetTensor(&tensors->out, at.out, rows * heads * kHeadDim);
  SetTensor(&tensors->lse, at.lse, rows * heads);
  SetTensor(&tensors->sinks, at.sinks, heads);
  tensors->has_sinks = at.sinks != nullptr;
  SetCache(call, call.ori, at.ori_kv, at.ori_block_table, &tensors->ori);
  SetCache(call, call.cmp, at.cmp_kv, at.cmp_block_table, &tensors->cmp);
  tensors->cmp.is_compressed = true;
  tensors->ori.indices = GmIntegers(at.ori_indices, rows * call.rules.ori_topk);
  tensors->cmp.indices = GmIntegers(at.cmp_indices, rows * call.rules.cmp_topk);
  tensors->ori.topk_length = GmIntegers(at.ori_topk_length, rows);
  tensors->cmp.topk_length = GmIntegers(at.cmp_topk_length, rows);
  tensors->metadata = GmIntegers(at.metadata, kMetadataWords);
  tensors->lengths = LengthsOf(call, at);
  SetGroupSlices(tiling.workspace, heads, group, at.workspace, tensors);
}

}  // namespace sfmla::dav_2201
