// SPDX-License-Identifier: Apache-2.0
#include "sim/ascendc/tque.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "sim/core.h"
#include "sim/fault.h"

namespace AscendC {

using sfmla::Str;
using sfmla::sim::CurrentCore;
using sfmla::sim::Fault;
using sfmla::sim::Pipe;

namespace {

using State = BufferQueue::Buffer::State;

[[noreturn]] void Refuse(const char* name, const SourceLocation& where, const std::string& reason) {
  Fault(Pipe::kS, name, where, reason);
}

// The queue's buffer at `begin`, which must be in `state`.
BufferQueue::Buffer& Find(BufferQueue* queue, uint64_t begin, State state, const char* name,
                          const SourceLocation& where) {
  for (BufferQueue::Buffer& buffer : queue->buffers) {
    if (buffer.begin != begin) continue;
    if (buffer.state != state) {
      Refuse(name, where, "tensor: its buffer is not in the state this call ends");
    }
    return buffer;
  }
  Refuse(name, where, "tensor: not a buffer of this queue");
}

}  // namespace

void TPipe::AddBuffers(std::shared_ptr<BufferQueue> queue, sfmla::sim::Space space, uint8_t count,
                       uint32_t bytes, const SourceLocation& where) {
  if (count > kMaxQueueBuffers) {
    Refuse(
        "InitBuffer", where,
        Str("queue of ", static_cast<int>(count), " buffers, ", kMaxQueueBuffers, " are allowed"));
  }
  queue->buffer_bytes = (bytes + 31) / 32 * 32;
  for (int i = 0; i < count; ++i) {
    queue->buffers.push_back({.begin = Take(space, queue->buffer_bytes, where),
                              .filled_id = Alloc(queue->filled, where),
                              .emptied_id = Alloc(queue->emptied, where)});
  }
  queues_.push_back(std::move(queue));
}

uint32_t TPipe::AllocBuffer(BufferQueue* queue, const SourceLocation& where) {
  const auto free = std::find_if(queue->buffers.begin(), queue->buffers.end(),
                                 [](const auto& buffer) { return buffer.state == State::kFree; });
  if (free == queue->buffers.end()) {
    Refuse("AllocTensor", where,
           Str("all ", queue->buffers.size(), " buffers of the queue are in use"));
  }
  // Buffers are taken in turn, so that pipes overlap.
  std::rotate(queue->buffers.begin(), free, queue->buffers.end());
  BufferQueue::Buffer& buffer = queue->buffers.front();
  WaitUntilEmptied(*queue, &buffer, where);
  buffer.state = State::kAllocated;
  return buffer.begin;
}

void TPipe::WaitUntilEmptied(const BufferQueue& queue, BufferQueue::Buffer* buffer,
                             const SourceLocation& where) {
  if (!std::exchange(buffer->emptied, false)) return;
  CurrentCore().WaitFlag(where, queue.emptied, buffer->emptied_id);
}

bool TPipe::EnQueBuffer(BufferQueue* queue, uint64_t begin, const SourceLocation& where) {
  BufferQueue::Buffer& buffer = Find(queue, begin, State::kAllocated, "EnQue", where);
  if (queue->waiting.size() >= static_cast<size_t>(queue->depth)) return false;
  buffer.state = State::kEnqueued;
  CurrentCore().SetFlag(where, queue->filled, buffer.filled_id);
  queue->waiting.push_back(buffer.begin);
  return true;
}

uint32_t TPipe::DeQueBuffer(BufferQueue* queue, const SourceLocation& where) {
  if (queue->waiting.empty()) Refuse("DeQue", where, "the queue is empty");
  const uint32_t begin = queue->waiting.front();
  queue->waiting.pop_front();
  BufferQueue::Buffer& buffer = Find(queue, begin, State::kEnqueued, "DeQue", where);
  CurrentCore().WaitFlag(where, queue->filled, buffer.filled_id);
  buffer.state = State::kDequeued;
  return begin;
}

void TPipe::FreeBuffer(BufferQueue* queue, uint64_t begin, const SourceLocation& where) {
  BufferQueue::Buffer& buffer = Find(queue, begin, State::kDequeued, "FreeTensor", where);
  buffer.state = State::kFree;
  buffer.emptied = true;
  CurrentCore().SetFlag(where, queue->emptied, buffer.emptied_id);
}

void TPipe::DrainQueues(const SourceLocation& where) {
  for (const std::shared_ptr<BufferQueue>& queue : queues_) {
    for (BufferQueue::Buffer& buffer : queue->buffers) {
      if (buffer.state != State::kFree) {
        Refuse("TPipe", where, "a queue's tensor was allocated and not freed");
      }
      WaitUntilEmptied(*queue, &buffer, where);
    }
  }
  queues_.clear();
}

}  // namespace AscendC
