// SPDX-License-Identifier: Apache-2.0
// Per-thread error text behind aclGetRecentErrMsg.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace sfmla {

// Records the status as this thread's newest report and returns its code, for C entry points:
// `return Report("aclrtMalloc", status);` An ok status records nothing and returns 0.
int32_t Report(const char* api, const Status& status);

}  // namespace sfmla
