// SPDX-License-Identifier: Apache-2.0
// Per-thread error text behind aclGetRecentErrMsg.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace sfmla {

// Records the status as this thread's newest report and returns its code, for C entry points:
// `return Report("aclrtMalloc", status);` An ok status records nothing and returns 0.
int32_t Report(const char* api, const Status& status);

// The same for what() of an exception, when even a Status may be too much to allocate.
int32_t ReportException(const char* api, int32_t code, const char* what) noexcept;

// The pending reports, newest first, or nullptr; clears them. Valid until the thread asks again.
const char* TakeReports() noexcept;

// Whether reports are shared by all threads (key err_msg_mode of aclInit) or belong to their
// thread.
void ShareReportsBetweenThreads(bool shared);

}  // namespace sfmla
