// SPDX-License-Identifier: Apache-2.0
// (device, kernel id) -> function. The library registers its kernels when it is loaded; a kernel
// that is registered later replaces an earlier one.
#pragma once

#include <string_view>

#include "base/kernel_call.h"

namespace sfmla {

KernelSink& KernelRegistry();
// nullptr if no kernel of that id is registered for the device.
KernelFn FindKernel(DeviceKind device, std::string_view kernel_id);

}  // namespace sfmla
