// SPDX-License-Identifier: Apache-2.0
// Checks of the operators over a window of an original cache and a compressed one: SparseFlashMla
// and SparseAttnSharedkv. Each says where its operands are and what it calls things.
#pragma once

#include <initializer_list>

#include "op_host/common/attention_attributes.h"
#include "op_host/common/attention_problem.h"
#include "op_host/common/operand_table.h"

namespace sfmla {

// What callers give beside tensors.
struct SharedKvArgs {
  AttentionAttributes attributes;
  double softmax_scale = 1.0;
  bool return_softmax_lse = false;
};

// Slots of a cache and of what finds its tokens, with the words that say when that is needed.
struct SharedKvCache {
  int kv = 0;
  int block_table = 0;
  int prefix_sums = 0;
  const char* when_paged = "";
  const char* when_packed = "";
};

struct SharedKvSlots {
  SharedKvCache ori;
  SharedKvCache cmp;
  int q = 0;
  int cu_seqlens_q = 0;
  int cmp_sparse_indices = 0;
  int sinks = 0;
  int metadata = 0;
  int attn_out = 0;
  int softmax_lse = 0;
  const char* metadata_words = "";  // why the metadata has so many
};

// The width of the list over the compressed cache, 0 without one; it comes with that cache only.
Result<int64_t> CompressedListWidth(const OperandTable& table, const SharedKvSlots& slots,
                                    bool has_cmp);

// Scale and rules of the problem, but for the heads.
Status CheckSharedKvAttributes(const SharedKvArgs& args, const AttentionParts& parts,
                               const LayoutNames& names, AttentionProblem* problem);

// The queries, how many there are, and that there is something for them to attend to.
Status CheckSharedKvQuery(OperandTable* table, const SharedKvSlots& slots,
                          AttentionProblem* problem);

// What finds the tokens of a cache in this layout is there.
Status RequireCacheIndex(const OperandTable& table, const SharedKvCache& cache, Layout layout_kv);

// Marks what every mode uses but used lengths: queries, caches and their indices, sinks, metadata,
// outputs.
void UseSharedKvTensors(OperandTable* table, const SharedKvSlots& slots,
                        const AttentionProblem& problem);

// All but used lengths and what an operator has on top, which come before: both caches with what
// finds their tokens, the list over the compressed one, metadata, sinks, attn_out of the type and
// shape of q, and softmax_lse if it is returned.
Status CheckSharedKvTensors(OperandTable* table, const SharedKvSlots& slots,
                            std::initializer_list<Axis> lse_axes, AttentionProblem* problem);

}  // namespace sfmla
