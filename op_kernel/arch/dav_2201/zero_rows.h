// SPDX-License-Identifier: Apache-2.0
// Zeros in global memory: rows without keys, rows that no request uses, absent keys.
#pragma once

#include "op_kernel/arch/dav_2201/vector_context.h"

namespace sfmla::dav_2201 {

// Fills `count` elements from the next output buffer.
template <typename T, typename E>
__aicore__ inline void StoreZeros(VectorContext<T>* context,
                                  const AscendC::GlobalTensor<E>& destination, int64_t count) {
  if (count == 0) return;
  constexpr int64_t kBufferElements = ub::kOutput.bytes / sizeof(E);
  context->output.Acquire();
  const auto zero_words = context->output.template Buffer<int32_t>();
  AscendC::Duplicate(zero_words, int32_t{0}, static_cast<int32_t>(ub::kOutput.bytes / 4));
  context->output.HandToStore();
  const auto zeros = context->output.template Buffer<E>();
  for (int64_t done = 0; done < count; done += kBufferElements) {
    StoreElements(destination[static_cast<uint64_t>(done)], zeros,
                  LesserOf(kBufferElements, count - done));
  }
  context->output.Release();
}

// Output and LSE of heads `heads` of a query row.
template <typename T>
__aicore__ inline void ZeroHeads(VectorContext<T>* context, int64_t global_row,
                                 const HeadRange& heads) {
  const auto first = static_cast<uint64_t>(global_row * context->heads + heads.first);
  StoreZeros(context, context->tensors.out[first * kHeadDim], heads.count * kHeadDim);
  if (!context->call.return_softmax_lse) return;
  StoreZeros(context, context->tensors.lse[first], heads.count);
}

// Query rows [begin, end), of which every vector core takes its share.
template <typename T>
__aicore__ inline void ZeroShareOfRows(VectorContext<T>* context, int64_t begin, int64_t end,
                                       int64_t core, int64_t cores) {
  if (begin >= end) return;
  const int64_t share = QuotientUp(end - begin, cores);
  const int64_t first = LesserOf(begin + core * share, end);
  const int64_t count = LesserOf(first + share, end) - first;
  const int64_t heads = context->heads;
  StoreZeros(context, context->tensors.out[static_cast<uint64_t>(first * heads * kHeadDim)],
             count * heads * kHeadDim);
  if (!context->call.return_softmax_lse) return;
  StoreZeros(context, context->tensors.lse[static_cast<uint64_t>(first * heads)], count * heads);
}

// Rows set aside for a request but not used by it, and packed rows behind the last request.
template <typename T>
__aicore__ inline void ZeroPaddedRows(VectorContext<T>* context, int64_t core, int64_t cores) {
  const KernelLengths& lengths = context->tensors.lengths;
  int64_t next = 0;
  for (int64_t request = 0; request < lengths.batch; ++request) {
    const int64_t first = lengths.FirstQueryRow(request);
    next = first + lengths.AllottedQueryRows(request);
    ZeroShareOfRows(context, first + lengths.At(request).query, next, core, cores);
  }
  ZeroShareOfRows(context, next, context->call.query_rows, core, cores);
}

}  // namespace sfmla::dav_2201
