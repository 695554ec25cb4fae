// SPDX-License-Identifier: Apache-2.0
// TPipe, TBuf: who owns which bytes of the on-chip memories, and which event ids.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/ascendc/checked.h"
#include "sim/ascendc/tensors.h"
#include "sim/ascendc/types.h"
#include "sim/source_location.h"

namespace AscendC {

class TPipe;

// A piece of one memory. Get() gives tensors over it and orders nothing.
template <TPosition position = TPosition::LCM>
class TBuf {
 public:
  static constexpr TPosition kPosition = position;

  template <typename T>
  LocalTensor<T> Get() const {
    return Get<T>(bytes_ / uint32_t{sizeof(T)});
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t elements,
                     const SourceLocation& where = SourceLocation::current()) const {
    return GetWithOffset<T>(elements, 0, where);
  }
  // `offset` in bytes.
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t offset,
                               const SourceLocation& where = SourceLocation::current()) const {
    if (uint64_t{elements} * sizeof(T) + offset > bytes_) {
      sfmla::sim::Fault(sfmla::sim::Pipe::kS, "TBuf::Get", where,
                        sfmla::Str("bytes up to ", uint64_t{elements} * sizeof(T) + offset,
                                   " of a buffer of ", bytes_));
    }
    return LocalTensor<T>(position, begin_ + offset, elements);
  }

 private:
  friend class TPipe;
  uint32_t begin_ = 0;
  uint32_t bytes_ = 0;
};

template <TPosition position, int32_t depth>
class TQue;

// What TPipe keeps of a TQue.
struct BufferQueue {
  struct Buffer {
    enum class State : uint8_t { kFree, kAllocated, kEnqueued, kDequeued };
    uint32_t begin = 0;
    State state = State::kFree;
    // The buffer's own flags. A flag is set again only after the buffer has gone round, so after
    // its last set was waited for.
    event_t filled_id = EVENT_ID0;
    event_t emptied_id = EVENT_ID0;
    bool emptied = false;  // set, and not waited for yet
  };

  HardEvent filled;
  HardEvent emptied;
  int32_t depth;
  uint32_t buffer_bytes = 0;
  std::vector<Buffer> buffers{};
  std::deque<uint32_t> waiting{};  // begins of what is enqueued
};

// One may live on a core at a time. On a cube core of 2201, its life begins with setting the M_MTE1
// flags 0, 1 and 2 and ends with waiting for them, so kernels use other ids, or Destroy it first.
class TPipe {
 public:
  explicit TPipe(const SourceLocation& where = SourceLocation::current());
  ~TPipe() noexcept(false);
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  void Init(const SourceLocation& where = SourceLocation::current());
  void Destroy(const SourceLocation& where = SourceLocation::current());

  // `bytes` is rounded up to 32. At most 64 buffers.
  template <TPosition position>
  void InitBuffer(TBuf<position>& buffer, uint32_t bytes,
                  const SourceLocation& where = SourceLocation::current()) {
    buffer.bytes_ = (bytes + 31) / 32 * 32;
    buffer.begin_ = Take(sfmla::sim::SpaceOf(position), buffer.bytes_, where);
  }
  // At most 8 buffers per queue, of `bytes` each.
  template <TPosition position, int32_t depth>
  void InitBuffer(TQue<position, depth>& queue, sfmla::sim::U8 buffers, uint32_t bytes,
                  const SourceLocation& where = SourceLocation::current());
  // Reserves the lowest free id of the event.
  template <HardEvent event>
  event_t AllocEventID(const SourceLocation& where = SourceLocation::current()) {
    return Alloc(event, where);
  }
  template <HardEvent event>
  void ReleaseEventID(event_t id, const SourceLocation& where = SourceLocation::current()) {
    Release(event, id, where);
  }
  // The lowest free id, which stays free.
  event_t FetchEventID(HardEvent event, const SourceLocation& where = SourceLocation::current());
  template <HardEvent event>
  event_t FetchEventID(const SourceLocation& where = SourceLocation::current()) {
    return FetchEventID(event, where);
  }

 private:
  static constexpr uint32_t kMaxBuffers = 64;
  static constexpr uint8_t kMaxQueueBuffers = 8;
  static constexpr int kOwnEventIds = 3;  // of M_MTE1

  template <TPosition position, int32_t depth>
  friend class TQue;

  uint32_t Take(sfmla::sim::Space space, uint32_t bytes, const SourceLocation& where);
  event_t Alloc(HardEvent event, const SourceLocation& where);
  void Release(HardEvent event, event_t id, const SourceLocation& where);

  void AddBuffers(std::shared_ptr<BufferQueue> queue, sfmla::sim::Space space, uint8_t count,
                  uint32_t bytes, const SourceLocation& where);
  uint32_t AllocBuffer(BufferQueue* queue, const SourceLocation& where);
  bool EnQueBuffer(BufferQueue* queue, uint64_t begin, const SourceLocation& where);
  uint32_t DeQueBuffer(BufferQueue* queue, const SourceLocation& where);
  void FreeBuffer(BufferQueue* queue, uint64_t begin, const SourceLocation& where);
  void WaitUntilEmptied(const BufferQueue& queue, BufferQueue::Buffer* buffer,
                        const SourceLocation& where);
  void DrainQueues(const SourceLocation& where);

  std::array<uint64_t, sfmla::sim::kSpaces> used_bytes_{};
  std::array<uint8_t, static_cast<size_t>(HardEvent::MAX)> taken_ids_{};  // bit per id
  uint32_t buffers_ = 0;
  std::vector<std::shared_ptr<BufferQueue>> queues_;
  bool alive_ = false;
  bool owns_flags_ = false;
};

// The living TPipe of this core.
TPipe* GetTPipePtr();

}  // namespace AscendC
