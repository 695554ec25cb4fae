// SPDX-License-Identifier: Apache-2.0
// Stub: log macros of custom AI CPU kernels.
#pragma once

#include "cpu_kernel.h"

namespace aicpu {
void CustLogError(CpuKernelContext& context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
}  // namespace aicpu

#define CUST_KERNEL_LOG_ERROR(context, ...) aicpu::CustLogError(context, __VA_ARGS__)
