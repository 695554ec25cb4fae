// SPDX-License-Identifier: Apache-2.0
// TQue: buffers that two pipes hand to each other, with the flags done for the kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/ascendc/checked.h"
#include "sim/ascendc/tensors.h"
#include "sim/ascendc/tpipe.h"
#include "sim/ascendc/types.h"
#include "sim/source_location.h"

namespace AscendC {

// The flags of a queue: `filled` from the pipe that writes a buffer to the one that reads it,
// `emptied` the other way.
struct QueueEvents {
  HardEvent filled;
  HardEvent emptied;
};

constexpr QueueEvents QueueEventsOf(TPosition position) {
  switch (position) {
    case TPosition::VECIN:
      return {HardEvent::MTE2_V, HardEvent::V_MTE2};
    case TPosition::VECOUT:
      return {HardEvent::V_MTE3, HardEvent::MTE3_V};
    case TPosition::A1:
    case TPosition::B1:
      return {HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2};
    case TPosition::A2:
    case TPosition::B2:
      return {HardEvent::MTE1_M, HardEvent::M_MTE1};
    case TPosition::CO1:
      return {HardEvent::M_FIX, HardEvent::FIX_M};
    default:
      return {HardEvent::MAX, HardEvent::MAX};
  }
}

// `depth` is how many tensors may be enqueued at once. A buffer goes AllocTensor, EnQue, DeQue,
// FreeTensor, and round again; any other order is a fault.
template <TPosition position, int32_t depth>
class TQue {
 public:
  static_assert(QueueEventsOf(position).filled != HardEvent::MAX, "no queue at this position");
  static_assert(depth >= 1, "in-place queues are not part of the subset");

  template <typename T>
  LocalTensor<T> AllocTensor(const SourceLocation& where = SourceLocation::current()) {
    return Tensor<T>(GetTPipePtr()->AllocBuffer(queue_.get(), where));
  }
  // False, and nothing happens, when the queue is full.
  template <typename T>
  bool EnQue(const LocalTensor<T>& tensor,
             const SourceLocation& where = SourceLocation::current()) {
    return GetTPipePtr()->EnQueBuffer(queue_.get(), tensor.begin(), where);
  }
  template <typename T>
  LocalTensor<T> DeQue(const SourceLocation& where = SourceLocation::current()) {
    return Tensor<T>(GetTPipePtr()->DeQueBuffer(queue_.get(), where));
  }
  template <typename T>
  void FreeTensor(const LocalTensor<T>& tensor,
                  const SourceLocation& where = SourceLocation::current()) {
    GetTPipePtr()->FreeBuffer(queue_.get(), tensor.begin(), where);
  }

 private:
  friend class TPipe;

  template <typename T>
  LocalTensor<T> Tensor(uint32_t begin) const {
    return LocalTensor<T>(position, begin, queue_->buffer_bytes / uint32_t{sizeof(T)});
  }

  // Shared with TPipe, which may outlive this and waits for the flags in the end.
  std::shared_ptr<BufferQueue> queue_ = std::make_shared<BufferQueue>(
      BufferQueue{QueueEventsOf(position).filled, QueueEventsOf(position).emptied, depth});
};

template <TPosition position, int32_t depth>
void TPipe::InitBuffer(TQue<position, depth>& queue, sfmla::sim::U8 buffers, uint32_t bytes,
                       const SourceLocation& where) {
  AddBuffers(queue.queue_, sfmla::sim::SpaceOf(position), buffers, bytes, where);
}

}  // namespace AscendC
