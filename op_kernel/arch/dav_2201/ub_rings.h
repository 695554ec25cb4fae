// SPDX-License-Identifier: Apache-2.0
// Who may touch which UB buffer when: two input buffers and two output buffers take turns, and the
// accumulator changes hands between loads, arithmetic and stores.
#pragma once

#include "op_kernel/arch/dav_2201/buffers.h"
#include "op_kernel/arch/dav_2201/sync_points.h"

namespace sfmla::dav_2201 {

// A place that MTE2 loads into and that V or MTE3 reads last.
class LoadTarget {
 public:
  __aicore__ inline explicit LoadTarget(int32_t event) : event_(event) {}

  // MTE2 waits until the place is free.
  __aicore__ inline void Acquire() const {
    if (stored_last_) {
      AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(event_);
    } else {
      AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(event_);
    }
  }
  // Loaded: V, or MTE3, waits for it.
  __aicore__ inline void HandToVector() const {
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(event_);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(event_);
  }
  __aicore__ inline void HandToStore() const {
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(event_);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(event_);
  }
  // V, or MTE3, has read it for the last time.
  __aicore__ inline void ReleaseByVector() {
    stored_last_ = false;
    AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(event_);
  }
  __aicore__ inline void ReleaseByStore() {
    stored_last_ = true;
    AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(event_);
  }

 private:
  int32_t event_;
  bool stored_last_ = false;
};

// The pair of input buffers. Acquire() makes the next one current.
class InputRing {
 public:
  __aicore__ inline InputRing()
      : targets_{LoadTarget(ub_event::kInput), LoadTarget(ub_event::kInput + 1)} {}

  __aicore__ inline void Begin() {
    targets_[0].ReleaseByVector();
    targets_[1].ReleaseByVector();
  }
  __aicore__ inline void End() const {
    targets_[0].Acquire();
    targets_[1].Acquire();
  }
  __aicore__ inline LoadTarget& Acquire() {
    side_ ^= 1;
    targets_[side_].Acquire();
    return targets_[side_];
  }
  template <typename E>
  __aicore__ inline AscendC::LocalTensor<E> Buffer() const {
    return Ub<E, ub::kInput>(static_cast<uint32_t>(side_));
  }

 private:
  LoadTarget targets_[2];
  int32_t side_ = 0;
};

// The pair of output buffers: V fills, MTE3 stores.
class OutputRing {
 public:
  __aicore__ inline void Begin() const {
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput + 1);
  }
  __aicore__ inline void End() const {
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput);
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput + 1);
  }
  // V waits until the next buffer is free; it is current from here on.
  __aicore__ inline void Acquire() {
    side_ ^= 1;
    AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput + side_);
  }
  __aicore__ inline void HandToStore() const {
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(ub_event::kOutput + side_);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(ub_event::kOutput + side_);
  }
  __aicore__ inline void Release() const {
    AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(ub_event::kOutput + side_);
  }
  template <typename E>
  __aicore__ inline AscendC::LocalTensor<E> Buffer() const {
    return Ub<E, ub::kOutput>(static_cast<uint32_t>(side_));
  }

 private:
  int32_t side_ = 0;
};

}  // namespace sfmla::dav_2201
