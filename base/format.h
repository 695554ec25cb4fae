// SPDX-License-Identifier: Apache-2.0
// Str("q: rank ", 3, ", must be ", 4): the one way error sentences are put together.
#pragma once

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

}  // namespace sfmla
