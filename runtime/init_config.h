// SPDX-License-Identifier: Apache-2.0
// The JSON file that aclInit may be given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sfmla {

struct InitConfig {
  std::optional<int32_t> default_device;  // "defaultDevice": {"default_device": "0"}
  bool shared_error_text = false;         // "err_msg_mode": "1"

  bool operator==(const InitConfig&) const = default;
};

// NULL or "" gives the defaults. 100003: cannot be read; 100006: not JSON; 100000: a key above has
// a value that means nothing.
Result<InitConfig> ReadInitConfig(const char* path);

// The same from text.
Result<InitConfig> ParseInitConfig(std::string_view text);

}  // namespace sfmla
