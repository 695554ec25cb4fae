// SPDX-License-Identifier: Apache-2.0
// What the stages of a vector core have in common.
#pragma once

#include "op_kernel/arch/dav_2201/row_math.h"
#include "op_kernel/arch/dav_2201/tile_task.h"
#include "op_kernel/arch/dav_2201/ub_rings.h"

namespace sfmla::dav_2201 {

// Heads [first, first + count) of every row.
struct HeadRange {
  int64_t first;
  int64_t count;

  __aicore__ inline int64_t end() const { return first + count; }
};

// The two vector cores of a group halve the heads, in whole blocks of float32.
__aicore__ inline HeadRange HeadsOfVectorCore(int64_t heads, int64_t sub_block) {
  const int64_t half = LesserOf(MultipleUp(QuotientUp(heads, 2), kFloatsPerBlock), heads);
  return sub_block == 0 ? HeadRange{0, half} : HeadRange{half, heads - half};
}

template <typename T>
struct VectorContext {
  __aicore__ inline VectorContext(const KernelTensors<T>& kernel_tensors,
                                  const AttentionTiling& kernel_call, int64_t sub_block_index)
      : tensors(kernel_tensors),
        call(kernel_call),
        heads(kernel_call.rules.heads),
        sub_block(sub_block_index),
        own_heads(HeadsOfVectorCore(heads, sub_block)) {}

  const KernelTensors<T>& tensors;
  const AttentionTiling& call;
  const int64_t heads;
  const int64_t sub_block;
  const HeadRange own_heads;
  InputRing input;
  OutputRing output;
  LoadTarget accumulator{ub_event::kAccumulator};

  // All buffers are free; call before and after everything else. Values per head are moved for more
  // heads than there may be, so all of them are numbers.
  __aicore__ inline void Begin() {
    constexpr uint32_t kHeadFloats = (ub::kRowBlocks.begin - ub::kRunningMax.begin) / kFloatBytes;
    const Floats per_head(AscendC::TPosition::VECCALC, ub::kRunningMax.begin, kHeadFloats);
    AscendC::Duplicate(per_head, 0.0f, static_cast<int32_t>(kHeadFloats));
    VectorBarrier();
    input.Begin();
    output.Begin();
    accumulator.ReleaseByVector();
  }
  __aicore__ inline void End() const {
    input.End();
    output.End();
    accumulator.Acquire();
  }

  // V's results go to MTE3, and V waits until MTE3 has read them: for small, rare things.
  __aicore__ inline void HandToStore() const {
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(ub_event::kAccumulator);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(ub_event::kAccumulator);
  }
  __aicore__ inline void TakeFromStore() const {
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(ub_event::kAccumulator);
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kAccumulator);
  }
};

// One burst of `bytes` bytes.
__aicore__ inline AscendC::DataCopyExtParams OneBurst(int64_t bytes) {
  AscendC::DataCopyExtParams params;
  params.blockCount = 1;
  params.blockLen = bytes;
  params.srcStride = 0;
  params.dstStride = 0;
  params.rsv = 0;
  return params;
}

// `count` elements, any number of them; what lies behind them up to 32 B is overwritten in UB.
template <typename E>
__aicore__ inline void LoadElements(const AscendC::LocalTensor<E>& destination,
                                    const AscendC::GlobalTensor<E>& source, int64_t count) {
  AscendC::DataCopyPad(destination, source, OneBurst(count * static_cast<int64_t>(sizeof(E))),
                       AscendC::DataCopyPadExtParams<E>{false, 0, 0, E{}});
}
template <typename E>
__aicore__ inline void StoreElements(const AscendC::GlobalTensor<E>& destination,
                                     const AscendC::LocalTensor<E>& source, int64_t count) {
  AscendC::DataCopyPad(destination, source, OneBurst(count * static_cast<int64_t>(sizeof(E))));
}

}  // namespace sfmla::dav_2201
