// SPDX-License-Identifier: Apache-2.0
// Str("q: rank ", 3, ", must be ", 4): the one way error sentences are put together.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>

namespace sfmla {

template <typename... Parts>
std::string Str(const Parts&... parts) {
  std::ostringstream out;
  out.precision(9);
  (out << ... << parts);
  return out.str();
}

// "(2, 64, 512)"
inline std::string ListText(std::span<const int64_t> values) {
  std::string out;
  for (const int64_t value : values) out += Str(out.empty() ? "" : ", ", value);
  return Str("(", out, ")");
}

}  // namespace sfmla
