// SPDX-License-Identifier: Apache-2.0
// Where the results of the chunks of split rows lie in the workspace: per slot the maxima of all
// heads, their sums, their outputs.
#pragma once

#include "op_kernel/arch/dav_2201/finish_rows.h"

namespace sfmla::dav_2201 {

// From a head on.
struct PartialSlot {
  AscendC::GlobalTensor<float> max;
  AscendC::GlobalTensor<float> sum;
  AscendC::GlobalTensor<float> out;
};

template <typename T>
__aicore__ inline PartialSlot PartialSlotAt(const VectorContext<T>& context, int64_t slot,
                                            int64_t head) {
  const int64_t first = slot * SplitSlotFloats(context.heads);
  const AscendC::GlobalTensor<float>& partials = context.tensors.partials;
  return {partials[static_cast<uint64_t>(first + head)],
          partials[static_cast<uint64_t>(first + context.heads + head)],
          partials[static_cast<uint64_t>(first + 2 * context.heads + head * kHeadDim)]};
}

// Stores the result of a chunk, whose output is in the accumulator.
template <typename T>
__aicore__ inline void StorePartial(VectorContext<T>* context, int64_t slot,
                                    const HeadStatistics& chunk) {
  const HeadRange& heads = context->own_heads;
  const PartialSlot destination = PartialSlotAt(*context, slot, heads.first);
  context->HandToStore();
  StoreElements(destination.max, chunk.max, heads.count);
  StoreElements(destination.sum, chunk.sum, heads.count);
  StoreElements(destination.out, AccumulatorRow(0), heads.count * kHeadDim);
  context->TakeFromStore();
  context->accumulator.ReleaseByStore();
}

}  // namespace sfmla::dav_2201
