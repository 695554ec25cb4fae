// SPDX-License-Identifier: Apache-2.0
// Checks that the attention operators of the family make in the same way and in the same words.
// Slots are those of the operator; axes go into the table that is given.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "op_host/common/attention_problem.h"
#include "op_host/common/operand_table.h"

namespace sfmla {

// Finite as the float that kernels use.
Result<float> CheckScale(const char* name, double scale);

// The width of an index list, 0 if there is none; a list without lanes is a mistake, not an
// absence.
Result<int64_t> ListWidth(const OperandArg& indices);

// The axes of the queries, and so of their attention: (B, S1, N1, D) or (T1, N1, D).
std::initializer_list<Axis> QueryAxes(Layout layout_q);

// The axes of one number per query row and head: (B, N2, S1, G) or (N2, T1, G).
std::initializer_list<Axis> StatisticsAxes(Layout layout_q);

// Data type, extents and heads of the queries. `head_dim_reason` says why D is 512.
Status CheckQueries(OperandTable* table, int slot, const char* head_dim_reason,
                    AttentionProblem* problem);

// B and the rows of q, from prefix sums that begin with 0: required with TND, refused with BSND.
// Afterwards a call without requests or rows may leave required tensors empty.
Status CheckQuerySums(OperandTable* table, int slot, AttentionProblem* problem);

// The same without prefix sums, when the axes know B.
void SetQueryExtents(OperandTable* table, AttentionProblem* problem);

// INT32 (B, S1, N2, last) or (T1, N2, last), and the same without a last axis, if used.
Status CheckRowIntegers(OperandTable* table, int slot, Layout layout_q, Axis last);
Status CheckRowLengths(OperandTable* table, int slot, Layout layout_q);

// One cache of a call: its slots and the names of its axes, those of the original cache unless
// said otherwise.
struct CacheOperand {
  int slot = 0;
  int block_table_slot = 0;
  Axis outer = Axis::kOriOuter;  // pages
  Axis tokens = Axis::kOriTokens;
  Axis columns = Axis::kOriColumns;  // of the block table, which is checked before
  Axis width = Axis::kD;
};

// Extents and strides of a cache: axis 0 free, rows at least a width apart, elements of a row
// adjacent, extent-1 axes do not matter, pages of 1..1024 tokens. Not the data type.
Status CheckCache(OperandTable* table, const CacheOperand& cache, Layout layout_kv,
                  CacheGeometry* geometry);

// FLOAT (N1).
Status CheckSinks(OperandTable* table, int slot);

// A contiguous tensor of this type and shape.
Status CheckOutput(OperandTable* table, int slot, aclDataType dtype, const char* why,
                   std::initializer_list<Axis> axes);

}  // namespace sfmla
