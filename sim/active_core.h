// SPDX-License-Identifier: Apache-2.0
// Which core CurrentCore() is.
#pragma once

#include "sim/core.h"

namespace sfmla::sim {

// While it lives, `core` is the current one of this thread.
class ActiveCore {
 public:
  explicit ActiveCore(Core* core);
  ~ActiveCore();
  ActiveCore(const ActiveCore&) = delete;
  ActiveCore& operator=(const ActiveCore&) = delete;

 private:
  Core* previous_;
};

}  // namespace sfmla::sim
