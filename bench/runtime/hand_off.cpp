// SPDX-License-Identifier: Apache-2.0
#include "hand_off.h"

#include <cstdlib>

namespace sfmla::bench {

HandOff::HandOff() {
  if (pthread_create(&worker_, nullptr, &Work, this) != 0) std::abort();
}

HandOff::~HandOff() {
  pthread_mutex_lock(&mutex_);
  closed_ = true;
  pthread_cond_signal(&queued_);
  pthread_mutex_unlock(&mutex_);
  pthread_join(worker_, nullptr);
}

void HandOff::Submit() {
  pthread_mutex_lock(&mutex_);
  ++submitted_;
  pthread_cond_signal(&queued_);
  pthread_mutex_unlock(&mutex_);
}

void HandOff::Wait() {
  pthread_mutex_lock(&mutex_);
  while (done_ < submitted_) pthread_cond_wait(&finished_, &mutex_);
  pthread_mutex_unlock(&mutex_);
}

void* HandOff::Work(void* self) {
  auto& queue = *static_cast<HandOff*>(self);
  pthread_mutex_lock(&queue.mutex_);
  for (;;) {
    while (queue.done_ == queue.submitted_ && !queue.closed_) {
      pthread_cond_wait(&queue.queued_, &queue.mutex_);
    }
    if (queue.done_ == queue.submitted_) break;
    pthread_mutex_unlock(&queue.mutex_);  // where the work would run
    pthread_mutex_lock(&queue.mutex_);
    ++queue.done_;
    pthread_cond_signal(&queue.finished_);
  }
  pthread_mutex_unlock(&queue.mutex_);
  return nullptr;
}

}  // namespace sfmla::bench
