// SPDX-License-Identifier: Apache-2.0
// The log: nothing unless ASCEND_GLOBAL_LOG_LEVEL asks for it.
#pragma once

#include <string_view>

#include "acl/acl_base_rt.h"

namespace sfmla {

// One line "[LEVEL] SFMLA(<pid>): <text>" on standard error, or on standard output where
// ASCEND_LOG_PRINT_TO_STDOUT is 1.
void Log(aclLogLevel level, std::string_view text);

}  // namespace sfmla
